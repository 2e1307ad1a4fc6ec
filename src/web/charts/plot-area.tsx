/**
 * The area of a chart with its axes. Places are percentages and sizes are pixels, so that a chart fills any width without scaled text and
 * without a script.
 */
import type { ComponentChildren, JSX } from "preact";
import { type Axis, percentText } from "./axis.ts";

interface PlotAreaProps {
  /** A description of the chart for screen readers. */
  readonly label: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly children: ComponentChildren;
}

const height = 220;
/** The distance of ticks from the area, in pixels. */
const tickGap = 8;

export const PlotArea = ({ label, x, y, children }: PlotAreaProps): JSX.Element => (
  <svg class="plot-area" width="100%" height={height} role="img" aria-label={label}>
    {y.ticks.map(({ at, text }) => (
      <g key={at}>
        <line class="grid" x1="0%" x2="100%" y1={percentText(100 - at)} y2={percentText(100 - at)} />
        <text class="tick" x={-tickGap} y={percentText(100 - at)} dy="0.32em" text-anchor="end">
          {text}
        </text>
      </g>
    ))}
    {x.ticks.map(({ at, text }) => (
      <text key={at} class="tick" x={percentText(at)} y="100%" dy="1.5em" text-anchor={anchorAt(at)}>
        {text}
      </text>
    ))}
    {children}
  </svg>
);

/** Keeps the texts at the ends within the area. */
function anchorAt(at: number): "start" | "middle" | "end" {
  if (at < 4) return "start";
  return at > 96 ? "end" : "middle";
}

interface PanelsProps {
  /** The names of the panels, and their plots. A single panel needs no name. */
  readonly panels: readonly (readonly [name: string, plot: JSX.Element])[];
}

/** Plots side by side. */
export const Panels = ({ panels }: PanelsProps): JSX.Element => (
  <div class={panels.length > 1 ? "panels several" : "panels"}>
    {panels.map(([name, plot], index) => (
      <div class="panel" key={index}>
        {panels.length > 1 ? <h3 class={`series-${index + 1}`}>{name}</h3> : null}
        {plot}
      </div>
    ))}
  </div>
);

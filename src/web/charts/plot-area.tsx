/**
 * The area of a chart with its axes. Positions are percentages and sizes are pixels, so that a chart fills any width without scaled text and
 * without a script.
 */
import type { ComponentChildren, JSX } from "preact";
import { type Axis, percentText } from "./axis.ts";

interface PlotAreaProps {
  /** A description of the chart for screen readers. */
  readonly label: string;
  readonly x: Axis;
  readonly y: Axis;
  /** The data of a browser module, for a plot whose marks are links. */
  readonly interaction?: Readonly<Record<string, string>>;
  /** In pixels. */
  readonly height?: number;
  readonly children: ComponentChildren;
}

const usualHeight = 220;
/** The distance of ticks from the area, in pixels. */
const tickGap = 8;

export const PlotArea = ({ label, x, y, interaction, height = usualHeight, children }: PlotAreaProps): JSX.Element => (
  <svg
    class="plot-area"
    width="100%"
    height={height}
    role={interaction === undefined ? "img" : "group"}
    aria-label={label}
    {...interaction}
  >
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

/** Keeps texts that are closer to an end than `margin` within the area. */
export function anchorAt(at: number, margin = 4): "start" | "middle" | "end" {
  if (at < margin) return "start";
  return at > 100 - margin ? "end" : "middle";
}

/** The words of a mark, above it, which are shown while a pointer or the focus is on it. */
export const ValueText = ({ text, at: [x, y] }: { readonly text: string; readonly at: readonly [number, number] }) => (
  <text class="value" x={percentText(x)} y={percentText(100 - y)} dy="-0.6em" text-anchor={anchorAt(x, 15)}>
    {text}
  </text>
);

interface SeriesNameProps {
  /** The number of the series, from 1. */
  readonly series: number;
  readonly name: string;
}

/** The name of a series, with its color. */
export const SeriesName = ({ series, name }: SeriesNameProps): JSX.Element => (
  <span class={`series series-${series}`}>
    <svg width="12" height="12" aria-hidden="true">
      <rect class="bar" width="12" height="12" rx="2" />
    </svg>
    {name}
  </span>
);

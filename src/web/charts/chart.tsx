/**
 * The one chart of all pages: marks on two scales, after one grammar. Rules are hairlines, ticks stand at the left outside the plot, series end in a
 * dot with their name and value, nothing has a legend. It is drawn twice, wide and for phones, so that its texts stay 12 px; the style sheet shows one.
 */
import type { JSX } from "preact";
import { type Anchor, DrawnMark, Label, type Mark, type Plot, px } from "./marks.tsx";
import type { Scale, ScaleTick } from "./scale.ts";

interface ChartProps {
  /** What the chart shows, in a sentence, for readers who do not see it. */
  readonly label: string;
  readonly x: Scale;
  /** Without a vertical scale, marks stand on the base. */
  readonly y?: Scale;
  readonly marks: readonly Mark[];
  /** The width of the wide drawing in pixels: 560 in a half of the page, 760 in more, 420 in less. */
  readonly width?: 420 | 560 | 760;
  readonly height?: number;
}

const narrowWidth = 346;
const usualHeight = 250;
/** The width of a character of 12 px on average. */
const characterWidth = 6.6;
const ticksMax = 5;
/** The height that a tick of the vertical scale takes at least. */
const tickHeight = 45;
/** The least distance of two labels at the ends of series. */
const labelStep = 31;

export const Chart = ({ width = 560, height = usualHeight, ...props }: ChartProps): JSX.Element => (
  <div class="plot">
    <Drawing {...props} look="wide" width={width} height={height} />
    <Drawing {...props} look="narrow" width={narrowWidth} height={Math.min(height, usualHeight)} />
  </div>
);

interface DrawingProps extends Omit<ChartProps, "width" | "height"> {
  readonly look: "wide" | "narrow";
  readonly width: number;
  readonly height: number;
}

const Drawing = ({ label, x, y, marks, look, width, height }: DrawingProps): JSX.Element => {
  const yTicks = y?.ticks(Math.min(ticksMax, Math.max(2, Math.floor(height / tickHeight)))) ?? [];
  const plot = plotOf({ x, y, marks, width, height, yTicks });
  const hasLinks = marks.some((mark) => "href" in mark || mark.mark === "stack");
  return (
    <svg class={look} viewBox={`0 0 ${width} ${height}`} role={hasLinks ? "group" : "img"} aria-label={label}>
      {x.band !== undefined
        ? null
        : yTicks.map(({ value, text }) => (
            <g key={value}>
              <line x1={plot.left} x2={plot.right} y1={px(plot.y(value))} y2={px(plot.y(value))} stroke="var(--line)" />
              <Label x={plot.left - 9} y={plot.y(value) + 4} anchor="end">
                {text}
              </Label>
            </g>
          ))}
      <Ticks scale={x} plot={plot} />
      {y?.label === undefined ? null : (
        <Label x={0} y={11}>
          ↑ {y.label}
        </Label>
      )}
      {x.label === undefined ? null : (
        <Label x={plot.right} y={height - 3} anchor="end">
          {x.label} →
        </Label>
      )}
      {x.band === undefined && y !== undefined ? null : (
        <line x1={plot.left} x2={plot.right} y1={plot.bottom} y2={plot.bottom} stroke="var(--field)" />
      )}
      {marks.map((mark, index) => (
        <DrawnMark key={index} mark={mark} plot={plot} />
      ))}
      <EndLabels marks={marks} plot={plot} />
    </svg>
  );
};

interface PlotOptions extends Pick<ChartProps, "x" | "marks"> {
  readonly y: Scale | undefined;
  readonly width: number;
  readonly height: number;
  readonly yTicks: readonly ScaleTick[];
}

/** Returns the area of a plot: what the ticks and the labels of its series leave. */
function plotOf({ x, y, marks, width, height, yTicks }: PlotOptions): Plot {
  const isBars = x.band !== undefined;
  const left = isBars || y === undefined ? 0 : Math.ceil(9 + widthOf(yTicks.map(({ text }) => text)));
  const ends = marks.flatMap((mark) => (mark.mark === "line" ? [mark.name ?? "", mark.value ?? ""] : []));
  const ending = widthOf(ends);
  const right = ending === 0 ? width : Math.floor(width - ending - 16);
  const top = isBars ? 24 : y?.label === undefined ? 16 : 34;
  const lines = x.ticks(ticksMax).some(({ below }) => below !== undefined) || x.label !== undefined ? 2 : 1;
  const hasSpanText = marks.some((mark) => mark.mark === "span" && mark.text !== undefined);
  const bottom = height - 9 - 17 * Math.max(lines, hasSpanText ? 2 : 1);
  // Dots at the ends of a series stay whole.
  const inset = isBars ? 0 : 6;
  const length = right - left - 2 * inset;
  const gap = gapOf(length, x.band);
  return {
    left,
    right,
    top,
    bottom,
    x: (value) => left + inset + x.at(value) * length,
    y: (value) => (y === undefined ? bottom : bottom - y.at(value) * (bottom - top)),
    band: (x.band ?? 0) * length - gap,
  };
}

/** Returns the gap between two bars in pixels: 10, or less where bars are thin. */
const gapOf = (length: number, band = 0): number => Math.min(10, 0.2 * band * length);

const widthOf = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length)) * characterWidth;

/** The ticks of the horizontal scale, as many as there is room for. */
const Ticks = ({ scale, plot }: { readonly scale: Scale; readonly plot: Plot }): JSX.Element => {
  const length = plot.right - plot.left;
  const all = scale.ticks(Math.max(2, Math.min(ticksMax + 1, Math.floor(length / 85))));
  const room = Math.ceil(((widthOf(all.map(({ text }) => text)) + 6) * all.length) / length);
  const shown = all.filter((_, index) => (all.length - 1 - index) % Math.max(1, room) === 0);
  return (
    <>
      {shown.map(({ value, text, below, isSubject = false }) => {
        const x = plot.x(value);
        const anchor = scale.band === undefined ? anchorAt(x, plot, text) : "middle";
        return (
          <g key={value}>
            <Label x={x} y={plot.bottom + 18} anchor={anchor}>
              {text}
            </Label>
            {below === undefined ? null : (
              <Label x={x} y={plot.bottom + 35} anchor={anchor} color={isSubject ? "coral" : undefined}>
                {below}
              </Label>
            )}
          </g>
        );
      })}
    </>
  );
};

/** Keeps words within the plot. */
function anchorAt(x: number, plot: Plot, text: string): Anchor {
  const half = (text.length * characterWidth) / 2;
  if (x - half < plot.left - 12) return "start";
  return x + half > plot.right + 12 ? "end" : "middle";
}

/** The names and values at the ends of the series, moved apart where they would overlap. */
const EndLabels = ({ marks, plot }: { readonly marks: readonly Mark[]; readonly plot: Plot }): JSX.Element => {
  const ends = marks.flatMap((mark) => {
    if (mark.mark !== "line" || mark.name === undefined) return [];
    const last = mark.points.findLast(([, value]) => value !== null);
    return last === undefined ? [] : [{ ...mark, x: plot.x(last[0]), y: plot.y(last[1] ?? 0) }];
  });
  const sorted = ends.sort((one, other) => one.y - other.y);
  let lowest = Number.NEGATIVE_INFINITY;
  const placed = sorted.map((end) => {
    const y = Math.max(end.y, lowest + (end.value === undefined ? labelStep / 2 : labelStep));
    lowest = y;
    return { ...end, y };
  });
  const excess = Math.max(0, lowest - (plot.bottom - 12));
  return (
    <>
      {placed.map(({ name, value, color, x, y, isUnfinished = false }) => (
        <g key={name}>
          <Label x={x + 12} y={y - excess + (value === undefined ? 4 : -2)} color={color}>
            {`${name}${isUnfinished ? "?" : ""}`}
          </Label>
          {value === undefined ? null : (
            <Label x={x + 12} y={y - excess + 13}>
              {value}
            </Label>
          )}
        </g>
      ))}
    </>
  );
};

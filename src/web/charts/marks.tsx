/** The marks of charts: rule, line, span, bar and dot, on two scales. Their colors are tokens of the style sheet, so that one drawing serves light and dark. */
import type { ComponentChildren, JSX } from "preact";

/** Petrol is the first series, coral the subject or the second one. */
export type ChartColor = "petrol" | "petrol2" | "coral" | "gold" | "field";

/** The colors of series in their order; further ones are not drawn. */
export const seriesColors: readonly ChartColor[] = ["petrol", "coral", "gold", "petrol2", "field"];

interface Linked {
  /** The rows that the mark stands for. */
  readonly href?: string | undefined;
  /** What the mark says on hover, and to readers who do not see it. */
  readonly title?: string | undefined;
}

type Point = readonly [x: number, y: number | null];

export type Mark =
  /** A line across the plot at one value of the horizontal scale. Its text stands above it, or beside it and below the texts of others. */
  | {
      readonly mark: "rule";
      readonly x: number;
      readonly color: ChartColor;
      readonly text?: string;
      readonly side?: "start" | "end";
    }
  /** A series: interrupted where a value is unknown. It starts with an open dot, and ends in a filled one with its name and value. */
  | {
      readonly mark: "line";
      readonly points: readonly Point[];
      readonly color: ChartColor;
      readonly name?: string;
      readonly value?: string;
      readonly isStepped?: boolean;
      readonly hasArea?: boolean;
      readonly isUnfinished?: boolean;
      /** Whether it is fitted: without dots at its ends. */
      readonly isFitted?: boolean;
    }
  /** A range of the horizontal scale, over the whole height. */
  | { readonly mark: "span"; readonly from: number; readonly to: number; readonly text?: string }
  /** A bar from zero, with its value above it. */
  | (Linked & {
      readonly mark: "bar";
      readonly x: number;
      readonly y: number;
      readonly color?: ChartColor;
      readonly above?: string;
    })
  /** A dot. `r` is its radius in pixels, `opacity` that of its fill. */
  | (Linked & {
      readonly mark: "dot";
      readonly x: number;
      readonly y: number;
      readonly r: number;
      readonly color: ChartColor;
      readonly opacity?: number;
      readonly name?: string;
      /** Lines that stand above it. */
      readonly above?: readonly string[];
    })
  /** Dots that stand on the base, those of nearly one value above each other. */
  | {
      readonly mark: "stack";
      readonly dots: readonly ({ readonly x: number; readonly isOpen?: boolean } & Linked)[];
      readonly color: ChartColor;
    };

export type Anchor = "start" | "middle" | "end";

/** The area of a plot in pixels, and where values lie in it. */
export interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  /** The width of a bar. */
  readonly band: number;
}

/** Rounds a length to a tenth of a pixel. */
export const px = (length: number): number => Math.round(length * 10) / 10;

const paintOf = (color: ChartColor): string => `var(--${color})`;

interface MarkProps<Name extends Mark["mark"]> {
  readonly mark: Extract<Mark, { mark: Name }>;
  readonly plot: Plot;
}

/** Draws a mark. */
export function DrawnMark({ mark, plot }: MarkProps<Mark["mark"]>): JSX.Element {
  switch (mark.mark) {
    case "rule":
      return <Rule mark={mark} plot={plot} />;
    case "line":
      return <Line mark={mark} plot={plot} />;
    case "span":
      return <Span mark={mark} plot={plot} />;
    case "bar":
      return <Bar mark={mark} plot={plot} />;
    case "dot":
      return <Dot mark={mark} plot={plot} />;
    case "stack":
      return <Stack mark={mark} plot={plot} />;
  }
}

interface LabelProps {
  readonly x: number;
  readonly y: number;
  readonly anchor?: Anchor | undefined;
  /** A label of a series is bold, in its color. */
  readonly color?: ChartColor | undefined;
  readonly isBold?: boolean;
  readonly children: ComponentChildren;
}

export const Label = ({ x, y, anchor = "start", color, isBold = color !== undefined, children }: LabelProps) => (
  <text
    x={px(x)}
    y={px(y)}
    text-anchor={anchor}
    class={isBold ? "lab" : undefined}
    fill={color === undefined ? undefined : paintOf(color)}
  >
    {children}
  </text>
);

/** A mark as a link to its rows, with its words. */
const Link = ({ href, title, children }: Linked & { readonly children: ComponentChildren }): JSX.Element => {
  const words = title === undefined ? null : <title>{title}</title>;
  if (href === undefined)
    return (
      <g>
        {words}
        {children}
      </g>
    );
  return (
    <a href={href} aria-label={title}>
      {words}
      {children}
    </a>
  );
};

/** How far the text beside a rule stands from it. */
const besideRule = { start: 7, end: -7 };
const otherSide = { start: "end", end: "start" } as const;

const Rule = ({ mark: { x: value, color, text, side: asked }, plot }: MarkProps<"rule">): JSX.Element => {
  const x = plot.x(value);
  // The text stands at the other side where it has no room.
  const room = { start: plot.right - x, end: x - plot.left };
  const side = asked !== undefined && room[asked] < 7 * (text?.length ?? 0) ? otherSide[asked] : asked;
  const isQuiet = color === "field";
  const style = isQuiet ? { "stroke-width": 1, "stroke-dasharray": "2 3" } : { "stroke-width": 2 };
  return (
    <>
      <line x1={px(x)} x2={px(x)} y1={plot.top} y2={plot.bottom} stroke={paintOf(color)} {...style} />
      {text === undefined ? null : (
        <Label
          x={x + (side === undefined ? 0 : besideRule[side])}
          y={plot.top + (side === undefined ? -6 : 8)}
          anchor={side ?? "middle"}
          color={color}
        >
          {text}
        </Label>
      )}
    </>
  );
};

const Line = ({ mark, plot }: MarkProps<"line">): JSX.Element => {
  const { points, color, isStepped = false, hasArea = false, isUnfinished = false, isFitted = false } = mark;
  const known = points.filter((point): point is readonly [number, number] => point[1] !== null);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined) return <g />;
  const paint = paintOf(color);
  const stroke = {
    ...({ fill: "none", stroke: paint, "stroke-width": 2.4 } as const),
    ...({ "stroke-linejoin": "round", "stroke-linecap": "round" } as const),
  };
  const area = `${linePath(known, plot, isStepped)}V${px(plot.bottom)}H${px(plot.x(first[0]))}Z`;
  const start = { cx: px(plot.x(first[0])), cy: px(plot.y(first[1])) };
  return (
    <>
      {hasArea ? <path d={area} fill={paint} fill-opacity=".1" /> : null}
      <path d={linePath(isUnfinished ? points.slice(0, -1) : points, plot, isStepped)} {...stroke} />
      {isUnfinished ? (
        <path d={linePath(points.slice(-2), plot, isStepped)} {...stroke} stroke-dasharray="2 4" />
      ) : null}
      {isFitted ? null : (
        <>
          <circle {...start} r="3" fill="var(--sheet)" stroke={paint} stroke-width="2" />
          <circle cx={px(plot.x(last[0]))} cy={px(plot.y(last[1]))} r="4.5" fill={paint} />
        </>
      )}
    </>
  );
};

/** Returns the path through points, interrupted where a value is unknown: a dot for a point alone. */
function linePath(points: readonly Point[], plot: Plot, isStepped: boolean): string {
  return points
    .map(([x, y], index) => {
      if (y === null) return "";
      const left = px(plot.x(x));
      const top = px(plot.y(y));
      const isAlone = (points[index + 1]?.[1] ?? null) === null;
      if ((points[index - 1]?.[1] ?? null) === null) return `M${left} ${top}${isAlone ? "h0" : ""}`;
      return isStepped ? `H${left}V${top}` : `L${left} ${top}`;
    })
    .join("");
}

const Span = ({ mark: { from, to, text }, plot }: MarkProps<"span">): JSX.Element => {
  const within = (value: number): number => Math.min(plot.right, Math.max(plot.left, px(plot.x(value))));
  const left = within(from);
  const right = within(to);
  return (
    <>
      <rect
        x={left}
        y={px(plot.top + 12)}
        width={px(right - left)}
        height={px(plot.bottom - plot.top - 12)}
        rx="6"
        fill="var(--petrol-soft)"
      />
      {text === undefined ? null : (
        <Label x={left + 8} y={plot.bottom + 38}>
          {text}
        </Label>
      )}
    </>
  );
};

const Bar = ({ mark: { x, y, color = "petrol2", above, ...link }, plot }: MarkProps<"bar">): JSX.Element => {
  const top = Math.min(plot.y(y), plot.bottom - 1);
  return (
    <Link {...link}>
      <rect
        x={px(plot.x(x) - plot.band / 2)}
        y={px(top)}
        width={px(plot.band)}
        height={px(plot.bottom - top)}
        rx="3"
        fill={paintOf(color)}
      />
      {above === undefined ? null : (
        <Label x={plot.x(x)} y={top - 7} anchor="middle" isBold>
          {above}
        </Label>
      )}
    </Link>
  );
};

const Dot = ({ mark, plot }: MarkProps<"dot">): JSX.Element => {
  const { x, y, r, color, opacity, name = "", above = [], ...link } = mark;
  const left = plot.x(x);
  const top = plot.y(y);
  // The name stands at the side where there is room.
  const isAtEnd = left + r + 8 + name.length * 7 > plot.right + 20;
  return (
    <Link {...link}>
      <circle
        cx={px(left)}
        cy={px(top)}
        r={px(r)}
        fill={paintOf(color)}
        fill-opacity={opacity}
        stroke={paintOf(color)}
      />
      {name === "" ? null : (
        <Label
          x={isAtEnd ? left - r - 5 : left + r + 5}
          y={top + 4}
          anchor={isAtEnd ? "end" : "start"}
          color={color === "coral" ? color : undefined}
        >
          {name}
        </Label>
      )}
      {above.map((line, index) => (
        <Label
          key={line}
          x={Math.min(Math.max(left, plot.left + line.length * 3.5), plot.right - line.length * 3.5)}
          y={top - r - 10 - 16 * (above.length - 1 - index)}
          anchor="middle"
          color={color}
        >
          {line}
        </Label>
      ))}
    </Link>
  );
};

/** The radius of a dot of a stack, and the distance of two dots: in pixels. */
const stackRadius = 5.4;
const stackStep = 13;

const Stack = ({ mark: { dots, color }, plot }: MarkProps<"stack">): JSX.Element => {
  const heights = new Map<number, number>();
  const placed = [...dots]
    .sort((one, other) => one.x - other.x)
    .map((dot) => {
      const column = Math.round((plot.x(dot.x) - plot.left) / stackStep);
      const height = heights.get(column) ?? 0;
      heights.set(column, height + 1);
      return { ...dot, cx: plot.left + column * stackStep, height };
    });
  const room = plot.bottom - plot.top - 2 * stackStep;
  const step = Math.min(stackStep + 1, room / Math.max(1, ...heights.values()));
  return (
    <>
      {placed.map(({ cx, height, isOpen = false, href, title }, index) => (
        <Link key={index} href={href} title={title}>
          <circle
            cx={px(cx)}
            cy={px(plot.bottom - 15 - height * step)}
            r={stackRadius}
            fill={isOpen ? "var(--sheet)" : paintOf(color)}
            stroke={paintOf(color)}
            stroke-width="1.8"
          />
        </Link>
      ))}
    </>
  );
};

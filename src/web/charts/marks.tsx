/** The marks of charts: rule, line, area, bar, dot and text, on two scales. Their colors are tokens of the style sheet, so that one drawing serves light and dark. */
import type { ComponentChildren, JSX } from "preact";

/** Petrol is the first series, coral the subject or the second one. */
export type ChartColor = "petrol" | "petrol2" | "coral" | "gold" | "field" | "line" | "petrol-soft";

interface Linked {
  /** The rows that the mark stands for. */
  readonly href?: string;
  /** What the mark says on hover, and to readers who do not see it. */
  readonly title?: string;
}

type Point = readonly [x: number, y: number | null];

export type Mark =
  /** A line across the plot at one value. */
  | {
      readonly mark: "rule";
      readonly x?: number;
      readonly y?: number;
      readonly color?: ChartColor;
      readonly isDashed?: boolean;
      readonly text?: string;
      /** Puts the text of a vertical rule beside it, below the texts of others. */
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
  /** A range of a series, from a low to a high value. */
  | {
      readonly mark: "area";
      readonly points: readonly (readonly [x: number, low: number, high: number])[];
      readonly color: ChartColor;
    }
  /** A range of the horizontal scale, over the whole height. */
  | { readonly mark: "span"; readonly from: number; readonly to: number; readonly text?: string }
  /** A bar from zero, with its value above it. */
  | ({
      readonly mark: "bar";
      readonly x: number;
      readonly y: number;
      readonly color?: ChartColor;
      readonly above?: string;
    } & Linked)
  /** A dot. `r` is its radius in pixels; a `bubble` shines through. */
  | ({
      readonly mark: "dot";
      readonly x: number;
      readonly y: number;
      readonly r?: number;
      readonly color: ChartColor;
      readonly look?: "open" | "filled" | "bubble" | "faint";
      readonly name?: string;
      /** Lines that stand above it. */
      readonly above?: readonly string[];
    } & Linked)
  /** Dots that stand on the base, those of nearly one value above each other. */
  | {
      readonly mark: "stack";
      readonly dots: readonly ({ readonly x: number; readonly isOpen?: boolean } & Linked)[];
      readonly color: ChartColor;
    }
  | {
      readonly mark: "text";
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly color?: ChartColor;
      readonly anchor?: Anchor;
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

type MarkOf<Name extends Mark["mark"]> = Extract<Mark, { mark: Name }>;

/** Rounds a length to a tenth of a pixel. */
export const px = (length: number): number => Math.round(length * 10) / 10;

const paintOf = (color: ChartColor): string => `var(--${color})`;

/** Draws a mark. */
export function drawMark(mark: Mark, plot: Plot, key: number): JSX.Element {
  switch (mark.mark) {
    case "rule":
      return <Rule key={key} mark={mark} plot={plot} />;
    case "line":
      return <Line key={key} mark={mark} plot={plot} />;
    case "area":
      return <path key={key} d={areaPath(mark.points, plot)} fill={paintOf(mark.color)} fill-opacity=".12" />;
    case "span":
      return <Span key={key} mark={mark} plot={plot} />;
    case "bar":
      return <Bar key={key} mark={mark} plot={plot} />;
    case "dot":
      return <Dot key={key} mark={mark} plot={plot} />;
    case "stack":
      return <Stack key={key} mark={mark} plot={plot} />;
    case "text":
      return (
        <Label key={key} x={plot.x(mark.x)} y={plot.y(mark.y)} anchor={mark.anchor} color={mark.color}>
          {mark.text}
        </Label>
      );
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
  return href === undefined ? (
    <g>
      {words}
      {children}
    </g>
  ) : (
    <a href={href} aria-label={title}>
      {words}
      {children}
    </a>
  );
};

interface MarkProps<Name extends Mark["mark"]> {
  readonly mark: MarkOf<Name>;
  readonly plot: Plot;
}

const Rule = ({ mark, plot }: MarkProps<"rule">): JSX.Element => {
  const { x, y, color = "line", isDashed = false, text, side } = mark;
  const at = x === undefined ? { x1: plot.left, x2: plot.right } : { x1: px(plot.x(x)), x2: px(plot.x(x)) };
  const level = y === undefined ? { y1: plot.top, y2: plot.bottom } : { y1: px(plot.y(y)), y2: px(plot.y(y)) };
  const width = x === undefined || color === "line" || color === "field" ? 1 : 2;
  return (
    <>
      <line
        {...at}
        {...level}
        stroke={paintOf(color)}
        stroke-width={width}
        stroke-dasharray={isDashed ? "2 3" : undefined}
      />
      {text === undefined ? null : (
        <Label
          x={x === undefined ? plot.right : plot.x(x) + (side === "start" ? 7 : side === "end" ? -7 : 0)}
          y={y === undefined ? plot.top + (side === undefined ? -6 : 8) : plot.y(y) - 6}
          anchor={x === undefined ? "end" : (side ?? "middle")}
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
  const first = known[0];
  const last = known.at(-1);
  const finished = isUnfinished ? points.slice(0, -1) : points;
  const stroke = { fill: "none", stroke: paintOf(color), "stroke-width": 2.4, "stroke-linejoin": "round" } as const;
  if (first === undefined || last === undefined) return <g />;
  return (
    <>
      {hasArea ? (
        <path
          d={`${linePath(known, plot, isStepped)}V${px(plot.bottom)}H${px(plot.x(first[0]))}Z`}
          fill={paintOf(color)}
          fill-opacity=".1"
        />
      ) : null}
      <path d={linePath(finished, plot, isStepped)} {...stroke} />
      {isUnfinished ? (
        <path d={linePath(points.slice(-2), plot, isStepped)} {...stroke} stroke-dasharray="2 4" />
      ) : null}
      {isFitted ? null : (
        <>
          <circle
            cx={px(plot.x(first[0]))}
            cy={px(plot.y(first[1]))}
            r="3"
            fill="var(--sheet)"
            stroke={paintOf(color)}
            stroke-width="2"
          />
          <circle cx={px(plot.x(last[0]))} cy={px(plot.y(last[1]))} r="4.5" fill={paintOf(color)} />
        </>
      )}
    </>
  );
};

/** Returns the path through points, interrupted where a value is unknown. */
function linePath(points: readonly Point[], plot: Plot, isStepped: boolean): string {
  return points
    .map(([x, y], index) => {
      if (y === null) return "";
      const left = px(plot.x(x));
      const top = px(plot.y(y));
      if ((points[index - 1]?.[1] ?? null) === null) return `M${left} ${top}`;
      return isStepped ? `H${left}V${top}` : `L${left} ${top}`;
    })
    .join("");
}

function areaPath(points: readonly (readonly [x: number, low: number, high: number])[], plot: Plot): string {
  const edge = (at: 1 | 2) => points.map((point) => `${px(plot.x(point[0]))} ${px(plot.y(point[at]))}`);
  return points.length === 0 ? "" : `M${[...edge(2), ...edge(1).reverse()].join("L")}Z`;
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

const dotStroke = 1.8;

const Dot = ({
  mark: { x, y, r = 5.4, color, look = "filled", name, above = [], ...link },
  plot,
}: MarkProps<"dot">): JSX.Element => {
  const left = plot.x(x);
  const top = plot.y(y);
  const opacity = { bubble: color === "coral" ? 0.85 : 0.3, faint: 0.45, filled: undefined, open: undefined }[look];
  // The name stands at the side where there is room.
  const isAtEnd = left + r + 8 + (name ?? "").length * 7 > plot.right + 20;
  return (
    <Link {...link}>
      <circle
        cx={px(left)}
        cy={px(top)}
        r={px(r)}
        fill={look === "open" ? "var(--sheet)" : paintOf(color)}
        fill-opacity={opacity}
        stroke={look === "faint" ? undefined : paintOf(color)}
        stroke-width={look === "open" ? dotStroke : undefined}
      />
      {name === undefined ? null : (
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
        <Link key={index} {...(href === undefined ? {} : { href })} {...(title === undefined ? {} : { title })}>
          <circle
            cx={px(cx)}
            cy={px(plot.bottom - 15 - height * step)}
            r={stackRadius}
            fill={isOpen ? "var(--sheet)" : paintOf(color)}
            stroke={paintOf(color)}
            stroke-width={dotStroke}
          />
        </Link>
      ))}
    </>
  );
};

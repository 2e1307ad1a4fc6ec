/** Prices on a line, one dot each, stacked where they are close: filled for sale, open sold, with an estimate, its interval, and a subject. */
import type { JSX } from "preact";
import { dollars, shortPrice } from "../shell/format.ts";
import { type Axis, percentText, roundAxis } from "./axis.ts";
import { anchorAt } from "./plot-area.tsx";

interface PriceDot {
  readonly price: number;
  readonly isSold: boolean;
  readonly title: string;
}

interface PriceStripProps {
  readonly dots: readonly PriceDot[];
  readonly price: number | null;
  readonly value: number;
  /** The interval around the value. */
  readonly low: number;
  readonly high: number;
}

/** The strip is drawn twice, of which the style sheet shows one: how many stacks a width has, and the radius of dots in pixels. */
const variants = [
  { name: "on-wide", stacks: 90, radius: 4.5, ticks: 9 },
  { name: "on-phone", stacks: 40, radius: 3.4, ticks: 4 },
] as const;

/** The space of the labels above, in pixels, and that of an axis below. */
const top = 40;
const bottom = 26;

export const PriceStrip = (props: PriceStripProps): JSX.Element => {
  const { dots, price, value, low, high } = props;
  const extent = [...dots.map((dot) => dot.price), value, low, high, ...(price === null ? [] : [price])];
  const own = price === null ? "" : `this car at ${dollars(price)}, `;
  return (
    <div
      class="strip"
      role="img"
      aria-label={`Adjusted prices of ${dots.length} comparables: ${own}estimate ${dollars(value)}, 80 % of prices from ${dollars(low)} to ${dollars(high)}`}
    >
      {variants.map((variant) => (
        <Strip
          key={variant.name}
          {...props}
          variant={variant}
          axis={roundAxis([Math.min(...extent), Math.max(...extent)], shortPrice, variant.ticks)}
        />
      ))}
      <p class="tiny muted">{`80% of comparable prices lie between ${dollars(low)} and ${dollars(high)}.`}</p>
    </div>
  );
};

type StripProps = PriceStripProps & { readonly variant: (typeof variants)[number]; readonly axis: Axis };

const Strip = ({ dots, price, value, low, high, variant, axis }: StripProps): JSX.Element => {
  const { name, stacks, radius } = variant;
  const stacked = stackedDots(dots, axis, stacks);
  const step = 2 * (radius + 0.6);
  const base = top + step * Math.max(5, ...stacked.map(({ level }) => level + 1)) + 6;
  return (
    <svg class={name} width="100%" height={base + bottom} aria-hidden="true">
      <rect
        class="interval"
        x={percentText(axis.at(low))}
        y={top}
        height={base - top}
        width={percentText(axis.at(high) - axis.at(low))}
      />
      <line class="base" x1="0%" x2="100%" y1={base} y2={base} />
      {axis.ticks.map(({ at, text }) => (
        <text key={at} x={percentText(at)} y={base + 18} text-anchor={anchorAt(at)}>
          {text}
        </text>
      ))}
      {stacked.map(({ dot, x, level }, index) => (
        <circle
          key={index}
          class={dot.isSold ? "sold" : undefined}
          cx={x}
          cy={base - 3 - radius - level * step}
          r={radius}
        >
          <title>{dot.title}</title>
        </circle>
      ))}
      <Mark name="estimate" at={axis.at(value)} y={top - 6} base={base}>{`estimate ${dollars(value)}`}</Mark>
      {price === null ? null : (
        <Mark name="subject" at={axis.at(price)} y={top - 24} base={base}>{`this car ${dollars(price)}`}</Mark>
      )}
    </svg>
  );
};

/** Returns where dots lie: the middle of their stack, and their level in it from 0. */
function stackedDots(dots: readonly PriceDot[], axis: Axis, stacks: number) {
  const heights = new Map<number, number>();
  return dots.map((dot) => {
    const stack = Math.min(stacks - 1, Math.floor((axis.at(dot.price) / 100) * stacks));
    const level = heights.get(stack) ?? 0;
    heights.set(stack, level + 1);
    return { dot, level, x: percentText((100 * (stack + 0.5)) / stacks) };
  });
}

interface MarkProps {
  readonly name: "estimate" | "subject";
  readonly at: number;
  /** The position of the label, and the end of the line, in pixels. */
  readonly y: number;
  readonly base: number;
  readonly children: string;
}

const Mark = ({ name, at, y, base, children }: MarkProps): JSX.Element => (
  <g class={name}>
    <line x1={percentText(at)} x2={percentText(at)} y1={y + 3} y2={base} />
    <text x={percentText(at)} y={y} dx={at < 50 ? -1 : 1} text-anchor={at < 50 ? "start" : "end"}>
      {children}
    </text>
    {name === "subject" ? <circle class="subject" cx={percentText(at)} cy={base} r="6" /> : null}
  </g>
);

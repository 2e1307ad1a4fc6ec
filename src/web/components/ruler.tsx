/** The ruler of a price: where it lies beside the range in which 8 of 10 similar cars are expected. */
import type { JSX } from "preact";

interface ValuedCar {
  readonly price?: number | null | undefined;
  readonly market_value_low?: number | null | undefined;
  readonly market_value_high?: number | null | undefined;
}

/** The part of the ruler on each side of the drawn range, in percent. */
const margin = 10;

/** Nothing for a car without a value or a price. */
export const Ruler = ({ car }: { readonly car: ValuedCar }): JSX.Element | null => {
  const { price, market_value_low: low, market_value_high: high } = car;
  if (price == null || low == null || high == null) return null;
  const start = Math.min(price, low);
  const length = Math.max(price, high) - start || 1;
  const percentOf = (dollars: number): string =>
    `${Math.round(margin + ((100 - 2 * margin) * (dollars - start)) / length)}%`;
  return (
    <svg class="ruler no-phone" aria-hidden="true">
      <line x1="0" x2="100%" y1="8" y2="8" />
      <line x1={percentOf(low)} x2={percentOf(high)} y1="8" y2="8" />
      <circle cx={percentOf(price)} cy="8" r="5.5" />
    </svg>
  );
};

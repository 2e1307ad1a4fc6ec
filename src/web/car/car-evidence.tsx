/** Where the facts of a car come from: what was seen and decided, each with its rule and the row of its feed, closed at first. */
import type { JSX } from "preact";
import { ratingEvidence } from "../sentences/car.ts";
import { count, day } from "../shell/format.ts";
import { Words } from "../shell/verdict.tsx";
import type { Evidence, ShownCar } from "./car-data.ts";

export const CarEvidence = ({ car }: { readonly car: ShownCar }): JSX.Element | null => {
  const { evidence, listing, valued, asOf } = car;
  if (evidence === undefined) return null;
  const { inventory_date: listed, vin, price, sold_date: sold } = listing;
  const first = evidence.steps[0]?.day;
  const rating =
    valued === undefined || sold !== null
      ? undefined
      : ratingEvidence({ ...valued.valuation, price, goodBelow: valued.valuation.rating_thresholds?.good });
  return (
    <details class="how" id="facts">
      <summary>Where these facts come from</summary>
      <ol class="time">
        {listed !== null && (first === undefined || listed.slice(0, 10) < first) ? (
          <li>
            <b>{day(listed)}.</b> The dealer says it was listed.
          </li>
        ) : null}
        {evidence.steps.map((step, index) => (
          <li key={index}>
            <b>{day(step.day)}.</b> {step.text} <small>{originOf(step)}</small>
          </li>
        ))}
        {rating === undefined ? null : (
          <li>
            <b>{day(asOf)}.</b> <Words sentence={rating} />
          </li>
        )}
      </ol>
      <a href={`/docs/getEvidence?vin=${vin}`}>{`GET /v1/vins/${vin}/evidence`}</a>
    </details>
  );
};

/** Returns the rule of a step, and the row of its feed. */
function originOf({ rule, source }: Evidence["steps"][number]): string {
  const row = source === null ? [] : [`${source.file} of ${source.day}, row ${count(source.row)}`];
  return [rule?.replaceAll("_", " ") ?? "no recorded rule", ...row].join(" · ");
}

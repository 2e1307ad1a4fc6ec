/** Where the facts of a car come from: what was seen and decided, each with its rule and the row of its feed, closed at first. */
import type { JSX } from "preact";
import { ratingEvidence } from "../sentences/car.ts";
import { count, day } from "../shell/format.ts";
import { Words } from "../shell/verdict.tsx";
import type { Evidence, ListingDetail, Valued } from "./car-data.ts";

interface EvidenceProps {
  readonly evidence: Evidence;
  readonly listing: ListingDetail;
  readonly valued: Valued | undefined;
  readonly asOf: string;
}

export const CarEvidence = ({ evidence, listing, valued, asOf }: EvidenceProps): JSX.Element => {
  const { inventory_date: listed, vin } = listing;
  const first = evidence.steps[0]?.day;
  const rating =
    valued === undefined || listing.sold_date !== null
      ? undefined
      : ratingEvidence({
          ...valued.valuation,
          price: listing.price,
          goodBelow: valued.valuation.rating_thresholds?.good,
        });
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
          <Step key={index} step={step} />
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

const Step = ({ step }: { readonly step: Evidence["steps"][number] }): JSX.Element => {
  const { day: date, text, rule, source } = step;
  const row = source === null ? [] : [`${source.file} of ${source.day}, row ${count(source.row)}`];
  return (
    <li>
      <b>{day(date)}.</b> {text} <small>{[rule?.replaceAll("_", " ") ?? "no recorded rule", ...row].join(" · ")}</small>
    </li>
  );
};

/** The head of the results: how many there are, their key numbers, and the controls of order and layout. */
import type { JSX } from "preact";
import { count, day, dollars } from "../../shell/format.ts";
import { ExportLink } from "../export/export-panel.tsx";
import type { ViewFacets } from "../facets.ts";
import { inventoryOf, type ViewParameters } from "../view.ts";
import { sparseBelow } from "./few-results.tsx";
import { LayoutFields, SortField } from "./result-controls.tsx";

interface ResultHeadProps {
  readonly view: ViewParameters;
  readonly facets: ViewFacets;
  /** The number of listings; undefined if the view is invalid. */
  readonly total: number | undefined;
}

const words = { active: "for sale", past: "for sale", sold: "sold" } as const;

export const ResultHead = ({ view, facets, total }: ResultHeadProps): JSX.Element => (
  <header class="results-head">
    <div>
      <h1 id="total">
        {total === undefined ? "No results" : `${count(total)} ${words[inventoryOf(view)]}`}
        {view.snapshot_date === undefined || total === undefined ? null : (
          <span class="muted"> on {day(view.snapshot_date)}</span>
        )}
      </h1>
      {total === undefined || total < sparseBelow ? null : <KeyNumbers view={view} facets={facets} total={total} />}
    </div>
    <div class="ends">
      <SortField view={view} />
      <LayoutFields view={view} />
      <ExportLink view={view} />
    </div>
  </header>
);

/** Medians of all results. A number with a filter is counted without it, and left out. */
const KeyNumbers = ({ view, facets: { stats, values }, total }: ResultHeadProps): JSX.Element => {
  const medianOf = (name: string): number | null => {
    const of = stats[name];
    return of === undefined || of.count + of.missing !== total ? null : of.median;
  };
  const price = medianOf("price");
  const days = medianOf("days_on_market");
  const great = values.value_rating?.find(({ value }) => value === "great")?.count;
  return (
    <p class="kpis">
      {price === null ? null : (
        <span>
          median <b>{dollars(price)}</b>
        </span>
      )}
      {days === null ? null : (
        <span>
          <b>{count(days)}</b> days on market
        </span>
      )}
      {great === undefined || view.value_rating !== undefined ? null : (
        <span>
          <b>{count(great)}</b> rated great
        </span>
      )}
    </p>
  );
};

/** What a search with few results says: why there are none, and which filter to give up for how many more. */
import type { JSX } from "preact";
import { count } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { apiFilters, removableNames, type ViewParameters, viewPath, withoutFilters } from "../view.ts";
import { filterText } from "./applied-filters.tsx";

/** Fewer listings than this are sparse: no median is stated, and each is drawn. */
export const sparseBelow = 10;

/** The most filters whose removal is counted. */
const stepsMax = 6;

/** A view with one filter less, and its listings. */
export interface StepBack {
  readonly name: string;
  readonly view: ViewParameters;
  readonly total: number;
}

/** Counts the listings of a view without each of its filters, the most first. */
export async function findStepsBack(
  requests: PageRequests,
  view: ViewParameters,
  asOf: string,
): Promise<readonly StepBack[]> {
  const names = removableNames(view).filter((name) => name !== "radius");
  const steps = await Promise.all(
    names.slice(0, stepsMax).map(async (name): Promise<StepBack | undefined> => {
      const wider = withoutFilters(view, [name]);
      const query = { ...apiFilters(wider, asOf), fields: "id", limit: "1" };
      const answer = await requests.loadPart("counts of wider searches", () => requests.call("searchListings", query));
      return answer === undefined ? undefined : { name, view: wider, total: answer.pagination.total };
    }),
  );
  return steps.filter((step) => step !== undefined).sort((one, other) => other.total - one.total);
}

interface FewResultsProps {
  readonly view: ViewParameters;
  readonly total: number;
  readonly steps: readonly StepBack[];
}

export const FewResults = ({ view, total, steps }: FewResultsProps): JSX.Element => (
  <section class="sheet pad stack few">
    <h2>{total === 0 ? "No listing matches all filters" : `Only ${count(total)} match`}</h2>
    <p class="sub">
      {total === 0
        ? "Without one of them there are:"
        : "Too few for a median or a distribution: each listing is a dot. Without one filter there are:"}
    </p>
    <ul class="steps">
      {steps.map((step) => (
        <li key={step.name}>
          <a href={viewPath(step.view)}>Without {filterText(view, step.name)}</a>
          <span class="num">{count(step.total)}</span>
        </li>
      ))}
    </ul>
  </section>
);

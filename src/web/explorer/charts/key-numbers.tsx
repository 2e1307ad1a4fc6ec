/** Four numbers of each compared search, and their changes against 30 days before. */
import type { JSX } from "preact";
import { isDay, plusDays } from "../../../base/day.ts";
import type { AnswerOf } from "../../../contract/types.ts";
import { supplyDays } from "../../../listing/supply.ts";
import { count, day, dollars, percent } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { SnapshotDays } from "../search/market-control.tsx";
import { apiFilters, inventoryOf, type ViewParameters } from "../view.ts";
import type { ChartSearch } from "./chart-searches.ts";

/** How many days before the day of a view its numbers are compared with. */
export const changeDays = 30;

/** Returns the day that a view is compared with; undefined if the data begins later, and for sold and rated listings, which past days do not have. */
export function dayBefore(view: ViewParameters, { first, last }: SnapshotDays): string | undefined {
  const shown = view.snapshot_date ?? last;
  const before = isDay(shown) ? plusDays(shown, -changeDays) : "";
  return inventoryOf(view) === "sold" || view.value_rating !== undefined || before < first ? undefined : before;
}

interface Definition {
  readonly title: string;
  readonly value: (answer: AnswerOf<"getFacets">) => number | null;
  readonly format: (value: number | null) => string;
  /** How a change is written. */
  readonly change: (now: number, before: number) => string;
  /** Whether a rise means something to a buyer. */
  readonly isColored?: boolean;
}

const byShare = (now: number, before: number): string => (before === 0 ? "" : percent(now / before - 1));
const byDays = (now: number, before: number): string => {
  const days = Math.round(now) - Math.round(before);
  return days === 0 ? "±0" : `${days < 0 ? "−" : "+"}${Math.abs(days)}`;
};
const rounded = (value: number | null): string => count(value === null ? null : Math.round(value));
const medianOf =
  (name: "price" | "days_on_market") =>
  ({ data }: AnswerOf<"getFacets">): number | null =>
    data.stats[name]?.median ?? null;

/** Returns the days that the sales of a month would take to sell the listings for sale. */
function daysSupply({ data }: AnswerOf<"getFacets">): number | null {
  const buckets = data.facets.inventory_type ?? [];
  const sold = buckets.reduce((sum, { metric }) => sum + (metric?.sample ?? 0), 0);
  const active = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const isKnown = buckets.some(({ metric }) => typeof metric?.value === "number");
  return isKnown && sold > 0 ? (supplyDays * active) / sold : null;
}

const definitions: readonly Definition[] = [
  { title: "For sale", value: ({ data }) => data.total, format: count, change: byShare },
  {
    ...{ title: "Median price", value: medianOf("price"), format: (value) => dollars(value && Math.round(value)) },
    ...{ change: byShare, isColored: true },
  },
  { title: "Days on market", value: medianOf("days_on_market"), format: rounded, change: byDays, isColored: true },
  { title: "Days supply", value: daysSupply, format: rounded, change: byDays },
];

interface Compared {
  readonly now: AnswerOf<"getFacets">;
  readonly before: AnswerOf<"getFacets"> | undefined;
}

const loadSearch = (
  requests: PageRequests,
  { filters }: ChartSearch,
  days: SnapshotDays,
): Promise<Compared | undefined> =>
  requests.loadPart("key numbers", async () => {
    const call = (changed: ViewParameters) =>
      requests.call("getFacets", {
        ...{ facets: "inventory_type,price,days_on_market", metric: "days_supply" },
        ...apiFilters({ ...filters, ...changed }, days.last),
      });
    const before = dayBefore(filters, days);
    const [now, earlier] = await Promise.all([
      call({}),
      before === undefined ? undefined : call({ snapshot_date: before }),
    ]);
    return { now, before: earlier };
  });

/** Loads the key numbers of searches that are compared. */
export async function loadKeyNumbers(
  requests: PageRequests,
  searches: readonly ChartSearch[],
  days: SnapshotDays,
): Promise<JSX.Element | null> {
  if (searches.length < 2 || searches.some(({ filters }) => inventoryOf(filters) === "sold")) return null;
  const loaded = await Promise.all(searches.map((search) => loadSearch(requests, search, days)));
  const compared = loaded.filter((one) => one !== undefined);
  const before = searches[0] === undefined ? undefined : dayBefore(searches[0].filters, days);
  return compared.length < searches.length ? null : <KeyNumbers compared={compared} before={before} />;
}

const KeyNumbers = ({
  compared,
  before,
}: {
  readonly compared: readonly Compared[];
  readonly before: string | undefined;
}) => (
  <div class="wide">
    <dl class="sheet duo">
      {definitions.map((definition) => (
        <div key={definition.title}>
          <dt>{definition.title}</dt>
          {compared.map((one, index) => (
            <KeyNumber key={index} definition={definition} compared={one} series={index + 1} />
          ))}
        </div>
      ))}
    </dl>
    <p class="sub">
      {before === undefined
        ? `No changes: the data of ${changeDays} days before are not there, or not rated.`
        : `Changes are against ${day(before)}, ${changeDays} days before.`}
    </p>
  </div>
);

interface KeyNumberProps {
  readonly definition: Definition;
  readonly compared: Compared;
  readonly series: number;
}

const KeyNumber = ({ definition, compared, series }: KeyNumberProps): JSX.Element => {
  const { value, format, change, isColored = false } = definition;
  const [now, before] = [value(compared.now), compared.before && value(compared.before)];
  const isKnown = now !== null && before !== null && before !== undefined;
  const direction = !isKnown || !isColored || now === before ? "" : now < before ? " falls" : " rises";
  return (
    <dd class={`series-${series}${direction}`}>
      {format(now)}
      {isKnown ? <small>{change(now, before)}</small> : null}
    </dd>
  );
};

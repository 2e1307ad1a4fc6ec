/** Four numbers of each compared search, and their changes against 30 days before. */
import type { JSX } from "preact";
import { isDay, plusDays } from "../../../base/day.ts";
import type { AnswerOf } from "../../../contract/types.ts";
import { supplyDays } from "../../../listing/aggregates.ts";
import { count, day, dollars, percent } from "../../shell/format.ts";
import { inventoryOf, type ViewParameters } from "../../shop/view.ts";
import type { ChartSearch, ChartsRequest, SnapshotDays } from "./chart-searches.ts";

/** How many days before the day of a view its numbers are compared with. */
export const changeDays = 30;

/** Returns the day that a view is compared with; undefined if the data begins later, and for sold and rated listings, which past days do not have. */
export function dayBefore(view: ViewParameters, { first, last }: SnapshotDays): string | undefined {
  const shown = view.snapshot_date ?? last;
  const before = isDay(shown) ? plusDays(shown, -changeDays) : "";
  return inventoryOf(view) === "sold" || view.value_rating !== undefined || before < first ? undefined : before;
}

type Counts = AnswerOf<"getFacets">["data"];

interface KeyNumber {
  readonly title: string;
  readonly value: (counts: Counts) => number | null;
  readonly format: (value: number | null) => string;
  /** Formats a change. */
  readonly change: (now: number, before: number) => string;
  /** Whether a rise means something to a buyer. */
  readonly isColored?: boolean;
}

const byShare = (now: number, before: number): string => (before === 0 ? "" : percent(now / before - 1));
const byDays = (now: number, before: number): string => {
  const days = Math.round(now) - Math.round(before);
  return days === 0 ? "±0" : `${days < 0 ? "−" : "+"}${Math.abs(days)}`;
};

/** Returns the days that the sales of a month would take to sell the listings for sale. */
function daysSupply({ facets: { inventory_type: buckets = [] } }: Counts): number | null {
  const sold = buckets.reduce((sum, { metric }) => sum + (metric?.sample ?? 0), 0);
  const active = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const isKnown = buckets.some(({ metric }) => typeof metric?.value === "number");
  return isKnown && sold > 0 ? (supplyDays * active) / sold : null;
}

const keyNumbers: readonly KeyNumber[] = [
  { title: "For sale", value: ({ total }) => total, format: count, change: byShare },
  {
    title: "Median price",
    value: ({ stats }) => stats.price?.median ?? null,
    format: dollars,
    change: byShare,
    isColored: true,
  },
  {
    title: "Days on market",
    value: ({ stats }) => stats.days_on_market?.median ?? null,
    format: count,
    change: byDays,
    isColored: true,
  },
  { title: "Days supply", value: daysSupply, format: count, change: byDays },
];

interface Compared {
  readonly now: Counts;
  readonly before: Counts | undefined;
}

/** Loads the key numbers of searches that are compared. */
export async function loadKeyNumbers(request: ChartsRequest): Promise<JSX.Element | null> {
  const { searches, days } = request;
  if (searches.length < 2 || searches.some(({ filters }) => inventoryOf(filters) === "sold")) return null;
  const compared = await request.loadEach("key numbers", searches, async (search): Promise<Compared> => {
    const past = dayBefore(search.filters, days);
    // Sold listings have no values, so that a supply cannot be of rated ones.
    const supply = search.filters.value_rating === undefined ? { metric: "days_supply" } : {};
    const query = { facets: "inventory_type,price,days_on_market", ...supply };
    const countsOf = async (one: ChartSearch) => (await request.count(one, query)).answer.data;
    const [now, before] = await Promise.all([
      countsOf(search),
      past === undefined ? undefined : countsOf({ ...search, filters: { ...search.filters, snapshot_date: past } }),
    ]);
    return { now, before };
  });
  if (compared.length < searches.length) return null;
  const before = dayBefore(searches[0].filters, days);
  return (
    <div class="wide">
      <dl class="sheet duo">
        {keyNumbers.map((number) => (
          <div key={number.title}>
            <dt>{number.title}</dt>
            {compared.map((one, index) => (
              <NumberOfSearch key={index} number={number} compared={one} series={index + 1} />
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
}

interface NumberOfSearchProps {
  readonly number: KeyNumber;
  readonly compared: Compared;
  readonly series: number;
}

const NumberOfSearch = ({ number, compared, series }: NumberOfSearchProps): JSX.Element => {
  const { value, format, change, isColored = false } = number;
  const now = value(compared.now);
  const before = compared.before === undefined ? null : value(compared.before);
  const isKnown = now !== null && before !== null;
  const direction = !isKnown || !isColored || now === before ? "" : now < before ? " falls" : " rises";
  return (
    <dd class={`series-${series}${direction}`}>
      {format(now)}
      {isKnown ? <small>{change(now, before)}</small> : null}
    </dd>
  );
};

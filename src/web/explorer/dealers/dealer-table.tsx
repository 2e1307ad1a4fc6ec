/** The table of dealers. Its headers are links that sort, a second time in the other direction. */
import type { ComponentChildren, JSX } from "preact";
import type { CalendarDealer } from "../../../query/quality/calendar.ts";
import { percentText } from "../../charts/axis.ts";
import { count, day as dayText, percent, plainWords, text } from "../../shell/format.ts";
import type { MarketDealer, MarketDealers } from "./market-dealers.ts";

type SortKey = (dealer: MarketDealer) => number | string | null;

interface DealerColumn {
  readonly title: string;
  /** What it sorts by, and the order in which it is read first. */
  readonly sort?: readonly [name: string, key: SortKey];
  readonly class?: string;
}

const columns: readonly DealerColumn[] = [
  { title: "Dealer", sort: ["name", ({ name }) => name.toLowerCase()] },
  { title: "Type", class: "col-opt capital" },
  { title: "Inventory", sort: ["-inventory", ({ listings }) => listings] },
  { title: "Days", class: "num", sort: ["days", ({ days }) => days] },
  { title: "Against market", sort: ["value", ({ toValue }) => toValue] },
  { title: "Deliveries, 14 days", class: "col-opt" },
];

const nameOf = (sort: string): string => sort.replace("-", "");
const keys = new Map(columns.flatMap(({ sort }) => (sort === undefined ? [] : [[nameOf(sort[0]), sort[1]] as const])));

export const largestFirst = "-inventory";

/** Returns dealers in an order; in that by inventory, if it is not known. Unknown numbers come last in both directions. */
export function sortDealers(dealers: readonly MarketDealer[], sort: string): readonly MarketDealer[] {
  const keyOf = keys.get(nameOf(sort));
  if (keyOf === undefined) return sortDealers(dealers, largestFirst);
  const sign = sort.startsWith("-") ? -1 : 1;
  return [...dealers].sort((one, other) => {
    const [own, others] = [keyOf(one), keyOf(other)];
    if (own === others) return 0;
    if (own === null || others === null) return own === null ? 1 : -1;
    return own < others ? -sign : sign;
  });
}

interface DealerTableProps {
  readonly found: MarketDealers;
  readonly feeds: readonly CalendarDealer[];
  readonly rows: readonly MarketDealer[];
  readonly sort: string;
  readonly pathOf: (sort: string) => string;
}

export const DealerTable = ({ found, feeds, rows, sort, pathOf }: DealerTableProps): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
  <section class="scroll" aria-label="Dealers" tabIndex={0}>
    <table class="dealers">
      <thead>
        <tr>
          {columns.map(({ title, sort: [own] = [undefined], class: look }) => (
            <th key={title} scope="col" class={look} aria-sort={directionOf(own, sort)}>
              {own === undefined ? title : <a href={pathOf(sort === own ? reversed(own) : own)}>{title}</a>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((dealer) => (
          <tr key={dealer.id}>
            {cellsOf(dealer, found, feeds).map((cell, index) => (
              <td key={index} class={columns[index]?.class}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

/** Returns the contents of a dealer's row, one for each column. */
function cellsOf(
  { id, name, state, type, listings, days, toValue }: MarketDealer,
  { dealers, placed }: MarketDealers,
  feeds: readonly CalendarDealer[],
): readonly ComponentChildren[] {
  const largest = Math.max(...dealers.map((dealer) => dealer.listings));
  const place = placed.find(({ dealer_id }) => dealer_id === id);
  return [
    <>
      <a class="plain strong" href={`/dealers/${id}`}>
        {name}
      </a>
      <div class="tiny muted">{plainWords(place?.city, state)}</div>
    </>,
    text(type),
    <>
      <svg class="inbar" width="96" height="8" aria-hidden="true">
        <rect width={percentText((100 * listings) / largest)} height="8" rx="1" />
      </svg>
      {count(listings)}
    </>,
    count(days),
    <AgainstMarket key={id} fraction={toValue} />,
    <Ticks key={id} feeds={feeds.find(({ dealerId }) => dealerId === id)?.feeds ?? []} />,
  ];
}

const reversed = (sort: string): string => (sort.startsWith("-") ? sort.slice(1) : `-${sort}`);

const directionOf = (own: string | undefined, sort: string): "ascending" | "descending" | undefined =>
  own === undefined || nameOf(own) !== nameOf(sort) ? undefined : sort.startsWith("-") ? "descending" : "ascending";

/** The difference that fills half of the bar. */
const differenceMax = 0.08;

/** A fraction below or above the market, as a bar to the left or right, and in percent. */
const AgainstMarket = ({ fraction }: { readonly fraction: number | null }): JSX.Element => {
  if (fraction === null) return <span class="muted small">too few rated</span>;
  const width = Math.min(50, (50 * Math.abs(fraction)) / differenceMax);
  const [bar, look] = fraction < 0 ? ["under", "small down"] : ["over", "small up"];
  return (
    <>
      <svg class="delta" width="84" height="12" aria-hidden="true">
        <rect class="axis" x="50%" width="1" height="12" />
        <rect
          {...{ class: bar, x: percentText(fraction < 0 ? 50 - width : 50), width: percentText(width) }}
          y="2"
          height="8"
        />
      </svg>
      <span class={look}>{percent(fraction)}</span>
    </>
  );
};

/** What came on each day: full, or hollow if nothing did. */
export const Ticks = ({ feeds }: Pick<CalendarDealer, "feeds">): JSX.Element => {
  const absent = feeds.filter(({ state }) => state === "silent" || state === "none");
  const label = `${feeds.length - absent.length} of ${feeds.length} deliveries`;
  return (
    <svg class="ticks" width={feeds.length * 7} height="14" role="img" aria-label={label}>
      {feeds.map((feed, index) => (
        <rect
          {...{ key: feed.day, x: index * 7 + 0.5, y: "0.5", width: "5", height: "13", rx: "1" }}
          class={absent.includes(feed) ? "absent" : feed.state}
        >
          <title>{`${dayText(feed.day)}: ${feed.state}`}</title>
        </rect>
      ))}
    </svg>
  );
};

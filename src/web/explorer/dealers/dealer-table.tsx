/** The table of dealers. Its heads are links that sort, a second time in the other direction. */
import type { ComponentChildren, JSX } from "preact";
import { percentText } from "../../charts/axis.ts";
import { DataTable } from "../../shell/blocks.tsx";
import { count, day as dayText, percent, plainWords, text } from "../../shell/format.ts";
import type { MarketDealer, MarketDealers, RecentFeeds } from "./market-dealers.ts";

interface DealerColumn {
  /** Its name, as `DataTable` takes it. */
  readonly name: string;
  /** What it sorts by, in the direction that is read first. */
  readonly sort?: string;
  readonly key?: (dealer: MarketDealer) => number | string | null;
  readonly cell: (dealer: MarketDealer, market: ShownMarket) => ComponentChildren;
}

interface ShownMarket {
  readonly found: MarketDealers;
  readonly feeds: RecentFeeds;
}

const columns: readonly DealerColumn[] = [
  {
    name: "Dealer",
    sort: "name",
    key: ({ name }) => name.toLowerCase(),
    cell: ({ id, name, state }, { found: { placed } }) => (
      <>
        <a class="plain strong" href={`/dealers/${id}`}>
          {name}
        </a>
        <div class="tiny muted">{plainWords(placed.find(({ dealer_id }) => dealer_id === id)?.city, state)}</div>
      </>
    ),
  },
  { name: "~Type", cell: ({ type }) => <span class="capital">{text(type)}</span> },
  {
    name: "Inventory",
    sort: "-inventory",
    key: ({ listings }) => listings,
    cell: ({ listings }, { found: { dealers } }) => (
      <>
        <svg class="inbar" width="96" height="8" aria-hidden="true">
          <rect
            width={percentText((100 * listings) / Math.max(...dealers.map((dealer) => dealer.listings)))}
            height="8"
            rx="1"
          />
        </svg>
        {count(listings)}
      </>
    ),
  },
  { name: "#Days", sort: "days", key: ({ days }) => days, cell: ({ days }) => count(days) },
  {
    name: "Against market",
    sort: "value",
    key: ({ toValue }) => toValue,
    cell: ({ toValue }) => <AgainstMarket fraction={toValue} />,
  },
  { name: "~Feeds, 14 days", cell: ({ id }, { feeds }) => <Ticks feeds={feeds.get(id)} /> },
];

const nameOf = (sort: string): string => sort.replace("-", "");

export const largestFirst = "-inventory";

/** Returns dealers in an order; in that by inventory, if it is not known. Unknown numbers come last in both directions. */
export function sortDealers(dealers: readonly MarketDealer[], sort: string): readonly MarketDealer[] {
  const keyOf = columns.find((column) => column.sort !== undefined && nameOf(column.sort) === nameOf(sort))?.key;
  if (keyOf === undefined) return sortDealers(dealers, largestFirst);
  const sign = sort.startsWith("-") ? -1 : 1;
  return [...dealers].sort((one, other) => {
    const own = keyOf(one);
    const others = keyOf(other);
    if (own === others) return 0;
    if (own === null || others === null) return own === null ? 1 : -1;
    return own < others ? -sign : sign;
  });
}

interface DealerTableProps extends ShownMarket {
  readonly rows: readonly MarketDealer[];
  readonly sort: string;
  readonly pathOf: (sort: string) => string;
}

export const DealerTable = ({ rows, sort, pathOf, ...market }: DealerTableProps): JSX.Element => (
  <DataTable
    label="Dealers"
    look="dealers"
    columns={columns.map(({ name, sort: own }) => {
      if (own === undefined) return name;
      const path = pathOf(sort !== own ? own : own.startsWith("-") ? nameOf(own) : `-${own}`);
      if (nameOf(own) !== nameOf(sort)) return { name, path };
      return { name, path, direction: sort.startsWith("-") ? "descending" : "ascending" };
    })}
    rows={rows.map((dealer) => columns.map(({ cell }) => cell(dealer, market)))}
  />
);

/** The difference that fills half of the bar. */
const differenceMax = 0.08;

/** A fraction below or above the market, as a bar to the left or right, and in percent. */
const AgainstMarket = ({ fraction }: { readonly fraction: number | null }): JSX.Element => {
  if (fraction === null) return <span class="muted small">too few rated</span>;
  const width = Math.min(50, (50 * Math.abs(fraction)) / differenceMax);
  const [bar, look, start] = fraction < 0 ? ["under", "small down", 50 - width] : ["over", "small up", 50];
  return (
    <>
      <svg class="delta" width="84" height="12" aria-hidden="true">
        <rect class="axis" x="50%" width="1" height="12" />
        <rect class={bar} x={percentText(start)} width={percentText(width)} y="2" height="8" />
      </svg>
      <span class={look}>{percent(fraction)}</span>
    </>
  );
};

interface TicksProps {
  /** The states of a dealer's feeds by day; undefined for a dealer that had none. */
  readonly feeds: ReturnType<RecentFeeds["get"]>;
}

/** What came on each day: full, or hollow if nothing did. */
export const Ticks = ({ feeds = {} }: TicksProps): JSX.Element => {
  const days = Object.entries(feeds).map(([day, state]) => ({ day, state, isAbsent: /silent|none/.test(state) }));
  const label = `${days.filter(({ isAbsent }) => !isAbsent).length} of ${days.length} feeds`;
  return (
    <svg class="ticks" width={days.length * 7} height="14" role="img" aria-label={label}>
      {days.map(({ day, state, isAbsent }, index) => (
        <rect key={day} x={index * 7 + 0.5} y="0.5" width="5" height="13" rx="1" class={isAbsent ? "absent" : state}>
          <title>{`${dayText(day)}: ${state}`}</title>
        </rect>
      ))}
    </svg>
  );
};

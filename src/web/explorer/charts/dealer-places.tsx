/** Dealers on the map and as a table: the largest ones, or those of one state by ZIP code. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/operation-request.ts";
import { ChartFigure, type NumbersCell } from "../../charts/chart-figure.tsx";
import { RankingPanels } from "../../charts/ranking-panels.tsx";
import type { MapDot } from "../../charts/us-map.tsx";
import { count, plainWords, text } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { listOf, type ViewParameters } from "../view.ts";
import { type ChartSearch, searchCells, searchColumns } from "./chart-searches.ts";

type Dealer = AnswerOf<"searchDealers">["data"][number];

export interface MappedDealers {
  /** The state that all of them are in; undefined for several states. */
  readonly state: string | undefined;
  /** The largest dealers, at most `pagesMax` pages of them. */
  readonly dealers: readonly Dealer[];
  readonly total: number;
}

/** Requests for dealers, and the dealers of each. */
const [pagesMax, pageDealers] = [3, 100];

/** Returns the parameters of a search for dealers that correspond to filters of listings: state, type and id. */
export function dealerFilters({ state, dealer_type: type, dealer_id }: ViewParameters): TextParameters {
  const filters = Object.entries({ state, type, dealer_id });
  return Object.fromEntries(filters.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export async function loadDealers(requests: PageRequests, filters: TextParameters): Promise<MappedDealers> {
  const query = { ...filters, limit: String(pageDealers) };
  const first = await requests.call("searchDealers", query);
  const { total } = first.pagination;
  const pages = Math.min(pagesMax, Math.ceil(total / pageDealers));
  const rest = await Promise.all(
    Array.from({ length: Math.max(0, pages - 1) }, (_, index) =>
      requests.call("searchDealers", { ...query, offset: String((index + 1) * pageDealers) }),
    ),
  );
  const states = listOf(filters, "state");
  return {
    state: states.length === 1 ? states[0]?.toUpperCase() : undefined,
    dealers: [first, ...rest].flatMap(({ data }) => data),
    total,
  };
}

/** Returns a dot for each dealer, or for each ZIP code of a state. Dealers without a place have none. */
export function mapDots({ state, dealers }: MappedDealers): readonly MapDot[] {
  if (state === undefined)
    return dealers.flatMap((dealer) => dotAt(dealer, dealer.listing_count, `${dealer.name}, ${placeOf(dealer)}`));
  return zipsOf(dealers).flatMap(({ zip, dealers: own, listings }) => {
    const located = own.find(({ latitude }) => latitude !== null);
    return located === undefined ? [] : dotAt(located, listings, `${zip}, ${text(located.city)}`);
  });
}

function dotAt({ longitude, latitude }: Dealer, size: number, name: string): readonly MapDot[] {
  if (longitude === null || latitude === null) return [];
  return [{ longitude, latitude, size, title: `${name}: ${count(size)} listings` }];
}

const placeOf = ({ city, state, postal_code }: Dealer): string => plainWords(city, state, postal_code);

interface ZipCode {
  readonly zip: string;
  readonly dealers: readonly Dealer[];
  readonly listings: number;
}

/** Returns the ZIP codes of dealers, the one with the most listings first. */
function zipsOf(dealers: readonly Dealer[]): readonly ZipCode[] {
  const byZip = new Map<string, Dealer[]>();
  for (const dealer of dealers) {
    const zip = dealer.postal_code ?? "unknown";
    byZip.set(zip, [...(byZip.get(zip) ?? []), dealer]);
  }
  return [...byZip]
    .map(([zip, own]) => ({ zip, dealers: own, listings: own.reduce((sum, one) => sum + one.listing_count, 0) }))
    .sort((one, other) => other.listings - one.listings);
}

/** The dealers or ZIP codes that have a bar; the table has all. */
const barsMax = 15;

interface DealerChartProps {
  readonly searches: readonly { readonly search: ChartSearch; readonly dealers: MappedDealers }[];
}

export const DealerChart = ({ searches }: DealerChartProps): JSX.Element => {
  const named = searches.map(({ search }) => search);
  const first = searches[0]?.dealers ?? noDealers;
  return (
    <ChartFigure
      id="dealers"
      title={first.state === undefined ? "Dealers by inventory" : "ZIP codes by inventory"}
      note={`Listings for sale today, regardless of the other filters: dealers are filtered by state and type only. ${shareNote(first)}`}
      isWide
      numbers={{
        columns: [
          ...searchColumns(named),
          ...[dealerColumn, { name: "postal_code", title: "ZIP" }, { name: "city", title: "City" }],
          ...[
            { name: "state", title: "State" },
            { name: "listings", title: "Listings", format: count },
          ],
        ],
        rows: searches.flatMap(({ search, dealers: { dealers } }) =>
          dealers.map((dealer) => [...searchCells(named, search), ...dealerCells(dealer)]),
        ),
      }}
    >
      <RankingPanels
        rankings={searches.map(({ search, dealers }) => ({ name: search.name, values: largest(dealers) }))}
        format={count}
      />
    </ChartFigure>
  );
};

/** Dealers that are not known. */
export const noDealers: MappedDealers = { state: undefined, dealers: [], total: 0 };
const dealerColumn = { name: "dealer", title: "Dealer" };

const dealerCells = (dealer: Dealer): readonly NumbersCell[] => [
  { text: dealer.name, path: `/dealers/${dealer.dealer_id}` },
  ...[dealer.postal_code, dealer.city, dealer.state, dealer.listing_count],
];

const shareNote = ({ dealers, total }: MappedDealers): string =>
  dealers.length < total
    ? `The map and the table have the ${count(dealers.length)} largest of ${count(total)} dealers.`
    : `All ${count(total)} dealers.`;

const largest = ({ state, dealers }: MappedDealers) =>
  state === undefined
    ? dealers.slice(0, barsMax).map(({ name, dealer_id, listing_count: value }) => ({
        ...{ name, value, path: `/dealers/${dealer_id}` },
      }))
    : zipsOf(dealers)
        .slice(0, barsMax)
        .map(({ zip, dealers: [one], listings }) => ({ name: plainWords(zip, one?.city), value: listings }));

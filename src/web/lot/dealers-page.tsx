/** The dealers, to choose one's own or another: by name, city or ZIP code, in a table that sorts. */
import type { JSX } from "preact";
import type { TextParameters } from "../../operations/caller.ts";
import { pointOfZip } from "../../query/geography.ts";
import { Button } from "../components/button.tsx";
import { Segments } from "../components/chips.tsx";
import { Field } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable, sortedRows, type TableColumn } from "../components/table.tsx";
import type { Judgement } from "../sentences/sentence.ts";
import { things } from "../sentences/words.ts";
import { changedPath } from "../shell/address.ts";
import { count } from "../shell/format.ts";
import { MissingParts } from "../shell/notes.tsx";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { Verdict } from "../shell/verdict.tsx";
import { radii, radiusIn } from "./lot-data.ts";
import { columnsOfDealers, filteredMax, loadDealers, type MarketDealer, placeDealers } from "./lot-dealers.ts";
import { ownLotOf } from "./lot-page.tsx";

const pageSize = 50;

interface Found {
  /** The dealers of the page. */
  readonly dealers: readonly MarketDealer[];
  readonly total: number;
  /** The ZIP code that they are near. */
  readonly zip?: string | undefined;
}

/** The handler of `/dealers`: the lot that the browser calls its own, else a choice. */
export const dealersPage: PageHandler = async ({ context, query, requests }) => {
  const own = ownLotOf(context);
  if (own !== undefined && query.size === 0) return { location: `/dealers/${own}` };
  const found = await requests.loadPart("dealers", () => find(requests, query));
  return {
    title: "Dealers",
    door: "lot",
    top: <Verdict kicker="My lot" judgement={judgementOf(found, query)} />,
    body: (
      <>
        <Search query={query} />
        {found === undefined ? <MissingParts missing={requests.missing} /> : <Dealers found={found} query={query} />}
      </>
    ),
  };
};

const wordsOf = (query: URLSearchParams): string => (query.get("q") ?? "").trim();

/** Returns the ZIP code that a search is, if it is known. */
function zipOf(query: URLSearchParams): string | undefined {
  const [, zip] = /^(\d{5})(?:-\d{4})?$/.exec(wordsOf(query)) ?? [];
  return zip !== undefined && pointOfZip(zip) !== undefined ? zip : undefined;
}

function judgementOf(found: Found | undefined, query: URLSearchParams): Judgement {
  const words = wordsOf(query);
  const total = found?.total ?? 0;
  const context = ["Its page ranks it by price and age, and says which cars to decide on and what to buy."];
  if (words === "") return { sentence: ["Which lot is yours?"], context };
  const where = found?.zip === undefined ? `match “${words}”` : `are within ${radiusIn(query)} miles of ${found.zip}`;
  const known = total === 0 ? "No dealers" : things(total, "dealer");
  return {
    sentence: [`${known} ${total === 1 ? where.replace(/^match/, "matches").replace(/^are/, "is") : where}.`],
    context,
  };
}

/** Finds the dealers near a ZIP code, those whose name, city or website has words, or all. */
async function find(requests: PageRequests, query: URLSearchParams): Promise<Found> {
  const state = query.get("state") ?? "";
  const filters: TextParameters = state === "" ? {} : { state };
  const zip = zipOf(query);
  const words = wordsOf(query);
  if (zip !== undefined) {
    const around = { ...filters, postal_code: zip, radius: String(radiusIn(query)) };
    return { ...(await page(requests, around, query, zip)), zip };
  }
  if (words === "") return page(requests, filters, query);
  const { data } = await requests.call("searchDealers", { ...filters, q: words, limit: String(filteredMax) });
  if (data.length === 0) return { dealers: [], total: 0 };
  return page(requests, { ...filters, dealer_id: data.map(({ dealer_id }) => dealer_id).join() }, query);
}

/** Loads a page of dealers in the order of the address, with their places. */
async function page(
  requests: PageRequests,
  filters: TextParameters,
  query: URLSearchParams,
  zip?: string,
): Promise<Found> {
  const { dealers, total } = await loadDealers(requests, filters);
  const offset = offsetOf(query);
  const shown = sortedRows(dealers, columns, orderOf(query)).slice(offset, offset + pageSize);
  const origin = zip === undefined ? undefined : pointOfZip(zip);
  return { dealers: await placeDealers(requests, shown, origin), total };
}

const offsetOf = (query: URLSearchParams): number =>
  /^\d{1,6}$/.test(query.get("offset") ?? "") ? Number(query.get("offset")) : 0;

const orderOf = (query: URLSearchParams): string => query.get("sort") ?? "-cars";

const { away, ...shared } = columnsOfDealers((id) => `/shop?dealer_id=${id}`);

const columns: readonly TableColumn<MarketDealer>[] = [
  { title: "Dealer", sort: "name", value: ({ name }) => name, path: ({ id }) => `/dealers/${id}` },
  { title: "Place", value: ({ place }) => place },
  ...[shared.cars, shared.market, shared.days],
];

const Search = ({ query }: { readonly query: URLSearchParams }): JSX.Element => {
  const words = wordsOf(query);
  const isUnknownZip = /^\d{5}$/.test(words) && zipOf(query) === undefined;
  return (
    <form class="line boxes" action="/dealers">
      <Field
        label="Dealer"
        name="q"
        value={words}
        placeholder="A name, a city, or a ZIP code such as 60641"
        error={isUnknownZip ? `No ZIP code is ${words}. An example that works: 60641.` : undefined}
      />
      <Button look="main">Find</Button>
      {zipOf(query) === undefined ? null : (
        <Segments
          label="Miles around"
          segments={radii.map((miles) => ({
            path: pathOf(query, { radius: String(miles) }),
            text: `${miles} mi`,
            isCurrent: miles === radiusIn(query),
          }))}
        />
      )}
    </form>
  );
};

/** Returns the address of the page with some parameters changed, at its first page. */
const pathOf = (query: URLSearchParams, changes: Readonly<Record<string, string>>): string =>
  changedPath("/dealers", query, { offset: undefined, ...changes });

const Dealers = ({ found, query }: { readonly found: Found; readonly query: URLSearchParams }): JSX.Element => {
  const { dealers, total, zip } = found;
  const offset = offsetOf(query);
  const rest = total - offset - pageSize;
  return (
    <Sheet
      title={total === 0 ? "No dealers" : things(total, "dealer")}
      of="Cars for sale, new and used; the median price against similar cars, and the typical days on the lot, of 10 cars or more."
      tools={
        <>
          {offset === 0 ? null : (
            <a href={pathOf(query, { offset: String(Math.max(0, offset - pageSize)) })}>Previous</a>
          )}
          {rest <= 0 ? null : (
            <a href={pathOf(query, { offset: String(offset + pageSize) })}>Next {count(Math.min(pageSize, rest))}</a>
          )}
        </>
      }
    >
      <DataTable
        label="Dealers"
        rows={dealers}
        empty="No dealer has this name, city or place. Try fewer words, or a ZIP code."
        sorting={{ current: orderOf(query), pathOf: (sort) => pathOf(query, { sort }) }}
        columns={zip === undefined ? columns : columns.toSpliced(2, 0, { ...away, sort: undefined })}
      />
    </Sheet>
  );
};

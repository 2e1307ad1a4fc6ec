/** The page of a dealer: who it is, how it stands in the market, its listings by price beside the estimate, its mix and its history. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { CurrentVersion } from "../../../serving/current-version.ts";
import { count, dollars, percent, plainWords, text, webUrl } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { type PageHandler, serviceOrigin } from "../../shell/pages.tsx";
import { chosenColumns } from "../../shop/columns.tsx";
import { ListingTable, Paging } from "../../shop/results.tsx";
import { viewPath } from "../../shop/view.ts";
import { ApiRequests, MissingParts } from "../api-requests.tsx";
import { loadCharts } from "../charts/charts-view.tsx";
import { DealerMix, mixFacets } from "./dealer-mix.tsx";
import { Ticks } from "./dealer-table.tsx";
import { type RecentFeeds, recentFeeds } from "./market-dealers.ts";

const columns = ["vehicle", "price", "market_value", "price_to_value", "miles", "days_on_market", "inventory_type"];

/** Returns the handler of `/dealers/:dealer_id`. An order or another page of the listings has the listings alone. */
export const dealerPage =
  (current: CurrentVersion): PageHandler =>
  async ({ context, params, query, requests }) => {
    const { data: dealer } = await requests.call("getDealer", {}, params);
    const { dealer_id } = dealer;
    const sort = query.get("sort");
    const offset = query.get("offset");
    const fields = chosenColumns(columns).flatMap((column) => column.fields);
    const page = { fields: fields.join(), limit: "25", sort: sort ?? "value", offset: offset ?? "0" };
    const [inventory, whole] = await Promise.all([
      requests.loadPart("inventory", () => requests.call("searchDealerListings", page, { dealer_id })),
      sort === null && offset === null ? loadWhole(requests, dealer_id, current) : undefined,
    ]);
    const feeds = (await recentFeeds(current)).get(dealer_id);
    return {
      title: dealer.name,
      door: "lot",
      body: (
        <article class="stack5">
          <Head dealer={dealer} numbers={whole?.numbers} feeds={feeds} />
          <MissingParts missing={requests.missing} />
          {inventory === undefined ? null : <Inventory dealerId={dealer_id} sort={page.sort} answer={inventory} />}
          {whole?.charts}
          <ApiRequests origin={serviceOrigin(context)} requests={requests} />
        </article>
      ),
    };
  };

type Measured = AnswerOf<"getGroups">["data"][number];

/** Loads the key numbers of a dealer, and what stands below its listings. */
async function loadWhole(requests: PageRequests, dealer_id: string, current: CurrentVersion) {
  const metric = keyNumbers.map(([name]) => name).join();
  const [measured, mix, history] = await Promise.all([
    requests.loadPart("key numbers", () => requests.call("getGroups", { group_by: "dealer_id", metric, dealer_id })),
    requests.loadPart("mix", () =>
      requests.call("getFacets", { facets: mixFacets.join(), facet_value_limit: "8", dealer_id }),
    ),
    requests.loadPart("history", async () => {
      const days = await current.use(async ({ manifest: { as_of, days: all } }) => [...Object.keys(all), as_of]);
      const first = days[0] ?? "";
      const last = days.at(-1) ?? first;
      const loadRest = await loadCharts(requests, { dealer_id, chart: "time" }, { first, last });
      return loadRest();
    }),
  ]);
  return {
    numbers: measured?.data[0],
    charts: (
      <div class="graphs">
        {mix === undefined ? null : <DealerMix dealerId={dealer_id} counts={mix.data} />}
        {history?.charts}
      </div>
    ),
  };
}

/** The metrics of a dealer's listings, with their titles and formats. */
const keyNumbers: readonly (readonly [metric: string, title: string, format: (value: number) => string])[] = [
  ["price.median", "median price", (value) => dollars(Math.round(value))],
  ["price_to_value.median", "against the market", percent],
  ["days_on_market.median", "days on market", count],
  ["days_supply", "days of supply", count],
];

interface HeadProps {
  readonly dealer: AnswerOf<"getDealer">["data"];
  readonly numbers: Measured | undefined;
  readonly feeds: ReturnType<RecentFeeds["get"]>;
}

const Head = ({ dealer, numbers, feeds }: HeadProps): JSX.Element => {
  const { dealer_id, name, type, makes, address, city, state, postal_code, phone, website } = dealer;
  const site = website === null ? undefined : webUrl(website.includes("://") ? website : `https://${website}`);
  const facts = [
    plainWords(type === null ? null : `${type === "franchise" ? "Franchise" : "Independent"} dealer`, ...makes),
    plainWords(address?.line1, city, state, postal_code),
    text(phone),
  ];
  return (
    <header class="stack">
      <p class="small">
        <a href="/dealers">Dealers</a>
        {state === null ? null : <a href={viewPath({ state }, "/dealers")}> {state}</a>}
      </p>
      <h1>{name}</h1>
      <p class="kpis">
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        <span>
          feeds <Ticks feeds={feeds} />
        </span>
        {site === undefined ? null : (
          <a href={site} rel="noopener noreferrer nofollow">
            {new URL(site).hostname}
          </a>
        )}
      </p>
      <KeyNumbers numbers={numbers} />
      <p>
        <a class="btn prime" href={viewPath({ dealer_id })}>
          Explore its inventory
        </a>{" "}
        <a class="btn" href={viewPath({ dealer_id, inventory_status: "sold" })}>
          Sold by it
        </a>
      </p>
    </header>
  );
};

const KeyNumbers = ({ numbers }: Pick<HeadProps, "numbers">): JSX.Element => (
  <p class="kpis">
    {keyNumbers.map(([metric, title, format]) => {
      const value = numbers?.metrics.find((one) => one.name === metric)?.value ?? null;
      return value === null ? null : (
        <span key={metric}>
          <b>{format(value)}</b> {title}
        </span>
      );
    })}
  </p>
);

/** The orders of the listings, with their names. */
const orders = [
  ["value", "Lowest to estimate"],
  ["-value", "Highest to estimate"],
  ["price", "Lowest price"],
  ["-days_on_market", "Longest here"],
] as const;

interface InventoryProps {
  readonly dealerId: string;
  readonly sort: string;
  readonly answer: AnswerOf<"searchDealerListings">;
}

const Inventory = ({ dealerId, sort, answer: { data, pagination } }: InventoryProps): JSX.Element => {
  const path = `/dealers/${dealerId}`;
  return (
    <section class="stack">
      <h2>{count(pagination.total)} for sale</h2>
      {data.length === 0 ? null : (
        <>
          <nav class="tabs" aria-label="Order">
            {orders.map(([order, title]) => (
              <a key={order} href={viewPath({ sort: order }, path)} aria-current={order === sort ? "true" : undefined}>
                {title}
              </a>
            ))}
          </nav>
          <ListingTable view={{}} listings={data} columns={columns} />
          <Paging view={{ sort }} pagination={pagination} path={path} />
        </>
      )}
    </section>
  );
};

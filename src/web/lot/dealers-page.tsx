/** The choice of a lot: the dealers with the most cars, those near a ZIP code, or those whose name, city or website has words. */
import type { Point } from "../../listing/geography.ts";
import { pointOfZip } from "../../query/geography.ts";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import type { TableColumn } from "../components/table.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { shortened, things } from "../sentences/words.ts";
import { count, plainWords } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { Verdict } from "../shell/verdict.tsx";
import { filteredMax, loadDealers, type MarketDealer, milesText, placeDealers } from "./lot-dealers.ts";
import { ownLotOf } from "./lot-page.tsx";

/** How far from a ZIP code dealers are shown. */
const nearMiles = "50";

const columns: readonly TableColumn<MarketDealer>[] = [
  { title: "Dealer", value: ({ name }) => name, path: ({ id }) => `/dealers/${id}` },
  { title: "Place", value: ({ place }) => place },
  { title: "Cars", value: ({ cars }) => cars, format: count, path: ({ id }) => `/shop?dealer_id=${id}` },
];

const away: TableColumn<MarketDealer> = { title: "Away", value: ({ miles }) => miles, format: milesText };

/** The handler of `/dealers`: the lot that the browser calls its own, else a choice. */
export const dealersPage: PageHandler = async ({ context, query, requests }) => {
  const own = ownLotOf(context);
  if (own !== undefined && query.size === 0) return { location: `/dealers/${own}` };
  const words = (query.get("q") ?? "").trim();
  const [, zip] = /^(\d{5})(?:-\d{4})?$/.exec(words) ?? [];
  const origin = pointOfZip(zip ?? "");
  const found = await requests.loadPart("dealers", () => find(requests, words, origin, zip));
  const which = origin !== undefined ? `within ${nearMiles} miles of ${zip}` : words && `with “${shortened(words)}”`;
  const total = found?.total ?? 0;
  return {
    title: "Dealers",
    door: "lot",
    top: (
      <Verdict
        kicker="My lot"
        judgement={{
          sentence: ["Which lot is yours?"],
          context: ["Its page ranks it by price and age, and says which cars to decide on and what to buy."],
        }}
      />
    ),
    body: (
      <>
        <form class="line boxes" action="/dealers">
          <Field
            label="Dealer"
            name="q"
            value={words}
            placeholder="A name, a city, or a ZIP code such as 60641"
            error={zip && origin === undefined ? `No ZIP code is ${zip}. An example that works: 60641.` : undefined}
          />
          <Button look="main">Find</Button>
        </form>
        {found === undefined ? null : (
          <TableSheet
            title={`${total === 0 ? "No dealer" : things(total, "dealer")} ${which}`.trim()}
            of={`Cars for sale, new and used, the most first.${total > filteredMax ? ` The first ${filteredMax} are shown.` : ""}`}
            label="Dealers"
            rows={found.dealers}
            empty="No dealer has this name, city or place. Try fewer words, or a ZIP code."
            columns={origin === undefined ? columns : [...columns, away]}
          />
        )}
      </>
    ),
  };
};

/** Returns the dealers with words that have the most cars, also those without any, and how many there are. */
async function findNamed(requests: PageRequests, q: string) {
  const { data, pagination } = await requests.call("searchDealers", { q, limit: String(filteredMax) });
  const unknown = { toMarket: null, days: null, supply: null };
  const dealers = data.map(({ dealer_id: id, name, listing_count: cars, city, state }): MarketDealer => {
    const place = plainWords(city, state);
    return { id, name, cars, place, ...unknown };
  });
  return { dealers, total: pagination.total };
}

/** Returns the dealers with the most cars, of those near a ZIP code or with words, and how many there are. */
async function find(requests: PageRequests, words: string, near: Point | undefined, zip = "") {
  if (near === undefined && words !== "") return findNamed(requests, words);
  const around = near === undefined ? {} : { postal_code: zip, radius: nearMiles };
  const { dealers, total } = await loadDealers(requests, around);
  return { dealers: await placeDealers(requests, dealers.slice(0, filteredMax), near), total };
}

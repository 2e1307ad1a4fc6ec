/** The choice of a lot: the dealers with the most cars, of all or of those whose name, city or website has words. */
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import type { TableColumn } from "../components/table.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { shortened, things } from "../sentences/words.ts";
import { count } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { Verdict } from "../shell/verdict.tsx";
import { filteredMax, loadDealers, type MarketDealer, placeDealers } from "./lot-dealers.ts";
import { ownLotOf } from "./lot-page.tsx";

const columns: readonly TableColumn<MarketDealer>[] = [
  { title: "Dealer", value: ({ name }) => name, path: ({ id }) => `/dealers/${id}` },
  { title: "Place", value: ({ place }) => place },
  { title: "Cars", value: ({ cars }) => cars, format: count, path: ({ id }) => `/shop?dealer_id=${id}` },
];

/** The handler of `/dealers`: the lot that the browser calls its own, else a choice. */
export const dealersPage: PageHandler = async ({ context, query, requests }) => {
  const own = ownLotOf(context);
  if (own !== undefined && query.size === 0) return { location: `/dealers/${own}` };
  const words = (query.get("q") ?? "").trim();
  const found = await requests.loadPart("dealers", () => find(requests, words));
  const which = words && `with “${shortened(words)}”`;
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
          <Field label="Dealer" name="q" value={words} placeholder="A name, or a city" />
          <Button look="main">Find</Button>
        </form>
        {found === undefined ? null : (
          <TableSheet
            title={`${total === 0 ? "No dealer" : things(total, "dealer")} ${which}`.trim()}
            of={`Cars for sale, new and used, the most first.${total > filteredMax ? ` The first ${filteredMax} are shown.` : ""}`}
            label="Dealers"
            rows={found.dealers}
            empty="No dealer has this name or city. Try fewer words."
            columns={columns}
          />
        )}
      </>
    ),
  };
};

/** Returns the dealers with the most cars, of those with words, and how many there are. */
async function find(requests: PageRequests, words: string) {
  const query = { q: words, limit: String(filteredMax) };
  const named = words === "" ? undefined : await requests.call("searchDealers", query);
  if (named?.data.length === 0) return { dealers: [], total: 0 };
  const filters = named === undefined ? {} : { dealer_id: named.data.map(({ dealer_id }) => dealer_id).join() };
  const { dealers, total } = await loadDealers(requests, filters);
  return { dealers: await placeDealers(requests, dealers.slice(0, filteredMax)), total };
}

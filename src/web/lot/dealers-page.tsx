/** The choice of a lot: the dealers with the most cars, those near a ZIP code, or those whose name, city or website has words. */
import type { Point } from "../../listing/geography.ts";
import { pointOfZip } from "../../query/geography.ts";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable, sortedRows, type TableColumn } from "../components/table.tsx";
import { shortened, things } from "../sentences/words.ts";
import { changedPath } from "../shell/address.ts";
import { MissingParts } from "../shell/notes.tsx";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { Verdict } from "../shell/verdict.tsx";
import { columnsOfDealers, filteredMax, loadDealers, type MarketDealer, placeDealers } from "./lot-dealers.ts";
import { ownLotOf } from "./lot-page.tsx";

/** How far from a ZIP code dealers are shown. */
const nearMiles = "50";

const { away, ...shared } = columnsOfDealers((id) => `/shop?dealer_id=${id}`);

const columns: readonly TableColumn<MarketDealer>[] = [
  { title: "Dealer", sort: "name", value: ({ name }) => name, path: ({ id }) => `/dealers/${id}` },
  { title: "Place", value: ({ place }) => place },
  ...[shared.cars, shared.market, shared.days],
];

/** The handler of `/dealers`: the lot that the browser calls its own, else a choice. */
export const dealersPage: PageHandler = async ({ context, query, requests }) => {
  const own = ownLotOf(context);
  if (own !== undefined && query.size === 0) return { location: `/dealers/${own}` };
  const words = (query.get("q") ?? "").trim();
  const [, zip] = /^(\d{5})(?:-\d{4})?$/.exec(words) ?? [];
  const origin = pointOfZip(zip ?? "");
  const order = query.get("sort") ?? "-cars";
  const found = await requests.loadPart("dealers", () =>
    find(requests, origin === undefined ? { words } : { zip, origin }, order),
  );
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
        <MissingParts missing={requests.missing} />
        {found === undefined ? null : (
          <Sheet
            title={`${total === 0 ? "No dealer" : things(total, "dealer")} ${which}`.trim()}
            of={`Cars for sale, new and used; the median price against similar cars, and the typical days on the lot, of 10 cars or more.${total > filteredMax ? ` The first ${filteredMax} are shown.` : ""}`}
          >
            <DataTable
              label="Dealers"
              rows={found.dealers}
              empty="No dealer has this name, city or place. Try fewer words, or a ZIP code."
              sorting={{ current: order, pathOf: (sort) => changedPath("/dealers", query, { sort }) }}
              columns={origin === undefined ? columns : columns.toSpliced(2, 0, { ...away, sort: undefined })}
            />
          </Sheet>
        )}
      </>
    ),
  };
};

interface Wanted {
  readonly words?: string;
  readonly zip?: string | undefined;
  readonly origin?: Point;
}

/** Returns the first dealers in an order with their places, and how many there are. */
async function find(requests: PageRequests, { words = "", zip = "", origin }: Wanted, order: string) {
  const named =
    words === "" ? undefined : await requests.call("searchDealers", { q: words, limit: String(filteredMax) });
  if (named?.data.length === 0) return { dealers: [], total: 0 };
  const around = origin === undefined ? {} : { postal_code: zip, radius: nearMiles };
  const filters = named === undefined ? around : { dealer_id: named.data.map(({ dealer_id }) => dealer_id).join() };
  const { dealers, total } = await loadDealers(requests, filters);
  const shown = sortedRows(dealers, columns, order).slice(0, filteredMax);
  return { dealers: await placeDealers(requests, shown, origin), total };
}

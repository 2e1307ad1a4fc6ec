/** What to buy: the models that sell around a lot and are missing on it; or those that it sells faster than others. */
import type { JSX } from "preact";
import { listItem } from "../../contract/lists.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { type ChartTable, numbersUrl } from "../components/numbers.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable, Meter } from "../components/table.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { buyNote, buyTitle, yoursText } from "../sentences/lot.ts";
import { amountOf, count, dollars, signedPercent, wholePercent } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { buyRadius, type LotChoice, typesOf } from "./lot-data.ts";
import { aroundDealer, medianOf } from "./lot-dealers.ts";
import { changedPath } from "./lot-sheets.tsx";

/** The models that are shown, and the most that are read. */
const modelsMax = 8;
const groupsMax = 1000;
const pageMax = 100;

/** The most cars of a model on the lot that it is missing with. */
const missingMax = 1;

interface MarketModel {
  readonly make: string;
  readonly model: string;
  /** The share of its cars that were sold within 30 days. */
  readonly sold: number;
  readonly offered: number;
  readonly yours: number;
  readonly median: number | undefined;
}

type FittingModels = AnswerOf<"findFittingModels">;

/** What the sheet shows; undefined if the API refuses it. */
export interface Buying {
  readonly models?: readonly MarketModel[] | undefined;
  readonly fitting?: FittingModels | undefined;
}

/** Loads the models of the view that an address names: those to buy, or with `buy=fit` those that fit the dealer. */
export async function loadBuying(requests: PageRequests, choice: LotChoice, query: URLSearchParams): Promise<Buying> {
  const { dealer_id } = choice.dealer;
  if (query.get("buy") !== "fit")
    return { models: await requests.loadPart("what to buy", () => loadModels(requests, choice)) };
  const fit = { radius: String(buyRadius), limit: String(pageMax) };
  return {
    fitting: await requests.loadPart("what sells here", () => requests.call("findFittingModels", fit, { dealer_id })),
  };
}

async function loadModels(requests: PageRequests, choice: LotChoice): Promise<readonly MarketModel[]> {
  const { dealer, condition } = choice;
  const around = aroundDealer(dealer, buyRadius);
  if (around === undefined) return [];
  const groups = { group_by: "make,model", inventory_type: typesOf(condition), limit: String(groupsMax) };
  // New cars are bought of the dealer's own makes only.
  const makes =
    condition === "new" && dealer.makes.length > 0
      ? { make: dealer.makes.map((make) => listItem(make, ",")).join() }
      : {};
  const [market, own] = await Promise.all([
    requests.call("getGroups", {
      ...around,
      ...groups,
      ...makes,
      metric: "sell_through,price.median",
      sort: "-metric",
    }),
    requests.call("getGroups", { ...groups, dealer_id: dealer.dealer_id }),
  ]);
  const yours = new Map(own.data.map(({ values, count: cars }) => [nameOf(values), cars]));
  const found = market.data
    .flatMap(({ values, count: offered, metrics }): readonly MarketModel[] => {
      const { make = null, model = null } = values;
      const [sold = null, median = null] = metrics.map(({ value }) => value);
      const mine = yours.get(nameOf(values)) ?? 0;
      if (make === null || model === null || sold === null || sold === 0 || mine > missingMax) return [];
      return [{ make, model, sold, offered, yours: mine, median: median ?? undefined }];
    })
    .slice(0, modelsMax);
  return withMedians(requests, found, { ...around, inventory_type: groups.inventory_type });
}

const nameOf = ({ make = "", model = "" }: Readonly<Record<string, string | null>>): string => `${make} ${model}`;

/** Adds the medians of few prices, which the API leaves out: of the offered cars, which are read. */
async function withMedians(
  requests: PageRequests,
  models: readonly MarketModel[],
  filters: Readonly<Record<string, string>>,
): Promise<readonly MarketModel[]> {
  const few = models.filter(({ median }) => median === undefined);
  if (few.length === 0) return models;
  const listOf = (name: "make" | "model"): string => [...new Set(few.map((one) => listItem(one[name], ",")))].join();
  const query = {
    ...filters,
    make: listOf("make"),
    model: listOf("model"),
    fields: "make,model,price",
    limit: String(pageMax),
  };
  const { data, pagination } = await requests.call("searchListings", query);
  if (pagination.total > pageMax) return models;
  return models.map((one) => {
    const prices = data.flatMap((car) => (car.make === one.make && car.model === one.model ? (car.price ?? []) : []));
    return one.median !== undefined || prices.length === 0 ? one : { ...one, median: medianOf(prices) };
  });
}

interface BuyProps {
  readonly choice: LotChoice;
  readonly buying: Buying;
  readonly query: URLSearchParams;
}

export const BuySheet = (props: BuyProps): JSX.Element =>
  props.query.get("buy") === "fit" ? <FittingSheet {...props} /> : <MissingSheet {...props} />;

const cellOf = ({ make, model }: Pick<MarketModel, "make" | "model">): JSX.Element => (
  <CarDrawing car={{ make, model, vin: "model", exterior_color: "cavalry blue" }} look="mini" />
);

const modelPath = (choice: LotChoice, make: string, model: string): string =>
  `/shop?${new URLSearchParams({
    make: listItem(make, ","),
    model: listItem(model, ","),
    inventory_type: typesOf(choice.condition),
    ...aroundDealer(choice.dealer, buyRadius),
  })}`;

const orders: ReadonlyMap<string, (model: MarketModel) => number> = new Map([
  ["sold", ({ sold }: MarketModel) => sold],
  ["offered", ({ offered }: MarketModel) => offered],
  ["yours", ({ yours }: MarketModel) => yours],
  ["median", ({ median = 0 }: MarketModel) => median],
]);

const MissingSheet = ({ choice, buying: { models = [] }, query }: BuyProps): JSX.Element => {
  const { condition, isOwn } = choice;
  const most = Math.max(...models.map(({ sold }) => sold));
  const sort = query.get("models") ?? "-sold";
  const order = orders.get(sort.replace(/^-/, ""));
  const sign = sort.startsWith("-") ? -1 : 1;
  const rows = order === undefined ? models : [...models].sort((one, other) => sign * (order(one) - order(other)));
  return (
    <Sheet
      id="buy"
      title={buyTitle(isOwn)}
      of={buyNote(condition, buyRadius, isOwn)}
      tools={
        <>
          <a href={numbersUrl(numbersOf(models))} download="what-to-buy.csv">
            As CSV
          </a>
          <a
            href={`${changedPath(choice, query, { buy: "fit" })}#buy`}
          >{`What ${isOwn ? "I sell" : "it sells"} faster than others`}</a>
        </>
      }
    >
      <DataTable
        label="Models to buy"
        rows={rows}
        hasPictures
        empty={`No ${condition} model has 10 cars or more within ${buyRadius} miles, of which some were sold.`}
        sorting={{ current: sort, pathOf: (next) => `${changedPath(choice, query, { models: next })}#buy` }}
        columns={[
          { title: "", cell: cellOf },
          {
            title: "Model",
            cell: ({ make, model }) => <a href={modelPath(choice, make, model)}>{`${make} ${model}`}</a>,
          },
          {
            title: "Sold in 30 days",
            sort: "sold",
            cell: ({ sold }) => (
              <span class="nb">
                <Meter part={sold} whole={Math.max(most, 0.6)} />
                {wholePercent(sold)}
              </span>
            ),
          },
          { title: "Offered", sort: "offered", isNumber: true, cell: ({ offered }) => count(offered) },
          { title: isOwn ? "Yours" : "Here", sort: "yours", isNumber: true, cell: ({ yours }) => yoursText(yours) },
          {
            title: "Median price",
            sort: "median",
            isNumber: true,
            cell: ({ median }) => (median === undefined ? "–" : dollars(Math.round(median))),
          },
        ]}
      />
    </Sheet>
  );
};

const numbersOf = (models: readonly MarketModel[]): ChartTable => ({
  columns: ["make", "model", "sold_in_30_days", "offered", "yours", "median_price"].map((name) => ({
    name,
    title: name,
  })),
  rows: models.map(({ make, model, sold, offered, yours, median }) => [
    make,
    model,
    sold,
    offered,
    yours,
    median ?? null,
  ]),
});

const FittingSheet = ({ choice, buying: { fitting }, query }: BuyProps): JSX.Element => {
  const types = typesOf(choice.condition).split(",");
  const models = (fitting?.data.models ?? []).filter(
    ({ inventory_type, relative }) => types.includes(inventory_type) && relative !== null && relative < 1,
  );
  return (
    <Sheet
      id="buy"
      title={`What ${choice.isOwn ? "you sell" : "it sells"} faster than others`}
      of={`Models by the days until a sale, of ${amountOf(fitting?.meta.sold_days, "day")} of sales within ${buyRadius} miles.`}
      tools={<a href={`${changedPath(choice, query, { buy: undefined })}#buy`}>What to buy</a>}
    >
      <DataTable
        label="Models that sell faster here"
        rows={models}
        hasPictures
        empty={`No ${choice.condition} model with three sales here and ten nearby sells faster here.`}
        columns={[
          { title: "", cell: ({ make, model }) => cellOf({ make, model: model ?? "" }) },
          {
            title: "Model",
            cell: ({ make, model }) => <a href={modelPath(choice, make, model ?? "")}>{`${make} ${model ?? ""}`}</a>,
          },
          { title: "Sold here", isNumber: true, cell: ({ sales }) => count(sales) },
          { title: "Days here", isNumber: true, cell: ({ median_days }) => count(median_days) },
          { title: "Days nearby", isNumber: true, cell: ({ market_median_days }) => count(market_median_days) },
          {
            title: "Faster",
            isNumber: true,
            cell: ({ relative }) => (relative === null ? "–" : signedPercent(relative - 1)),
          },
        ]}
      />
    </Sheet>
  );
};

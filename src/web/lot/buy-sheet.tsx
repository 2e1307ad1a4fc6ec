/** What to buy: the models that sell around a lot and are missing on it; or those that it sells faster than others. */
import type { JSX } from "preact";
import { listItem } from "../../contract/lists.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { numbersUrl } from "../components/numbers.tsx";
import { Meter, type TableColumn } from "../components/table.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { buyNote } from "../sentences/lot.ts";
import { amountOf, count, dollars, signedPercent, wholePercent } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { buyRadius, type LotChoice, lotPath, pathOfLot, typesOf } from "./lot-data.ts";
import { aroundDealer, medianOf, pageMax } from "./lot-dealers.ts";

/** The models that are shown, and the most that are read. */
const modelsMax = 8;
const groupsMax = 1000;

/** The most cars of a model on the lot that it is missing with. */
const missingMax = 1;

interface MarketModel {
  readonly make: string;
  readonly model: string;
  /** The share of its cars that were sold within 30 days. */
  readonly sold: number;
  readonly offered: number;
  readonly yours: number;
  readonly median: number | null;
}

/** What the sheet shows: `fitting` if the address asks for it, else `models`; undefined if the API refuses it. */
interface Buying {
  readonly models?: readonly MarketModel[] | undefined;
  readonly fitting?: AnswerOf<"findFittingModels"> | undefined;
}

const isOfFit = ({ query }: LotChoice): boolean => query.has("buy");

/** Loads the models of the view that an address names: those to buy, or with `buy=fit` those that fit the dealer. */
export async function loadBuying(requests: PageRequests, choice: LotChoice): Promise<Buying> {
  if (!isOfFit(choice)) return { models: await requests.loadPart("what to buy", () => loadModels(requests, choice)) };
  const { dealer_id } = choice.dealer;
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
  const isBound = condition === "new" && dealer.makes.length > 0;
  const makes = isBound ? { make: dealer.makes.map((make) => listItem(make, ",")).join() } : {};
  const metrics = { metric: "sell_through,price.median", sort: "-metric" };
  const [market, own] = await Promise.all([
    requests.call("getGroups", { ...around, ...groups, ...makes, ...metrics }),
    requests.call("getGroups", { ...groups, dealer_id: dealer.dealer_id }),
  ]);
  const yours = new Map(own.data.map(({ values, count: cars }) => [nameOf(values), cars]));
  const found = market.data.flatMap(({ values, count: offered, metrics }): readonly MarketModel[] => {
    const { make = null, model = null } = values;
    const [sold = null, median = null] = metrics.map(({ value }) => value);
    const mine = yours.get(nameOf(values)) ?? 0;
    if (make === null || model === null || sold === null || sold === 0 || mine > missingMax) return [];
    return [{ make, model, sold, offered, yours: mine, median }];
  });
  return withMedians(requests, found.slice(0, modelsMax), { ...around, inventory_type: groups.inventory_type });
}

const nameOf = ({ make = "", model = "" }: Readonly<Record<string, string | null>>): string => `${make} ${model}`;

/** Adds the medians of few prices, which the API leaves out: of the offered cars, which are read. */
async function withMedians(
  requests: PageRequests,
  models: readonly MarketModel[],
  filters: Readonly<Record<string, string>>,
): Promise<readonly MarketModel[]> {
  const few = models.filter(({ median }) => median === null);
  if (few.length === 0) return models;
  const listOf = (name: "make" | "model"): string => [...new Set(few.map((one) => listItem(one[name], ",")))].join();
  const named = { make: listOf("make"), model: listOf("model") };
  const read = { fields: "make,model,price", limit: String(pageMax) };
  const { data, pagination } = await requests.call("searchListings", { ...filters, ...named, ...read });
  if (pagination.total > pageMax) return models;
  return models.map((one) => {
    const prices = data.flatMap((car) => (car.make === one.make && car.model === one.model ? (car.price ?? []) : []));
    return one.median !== null || prices.length === 0 ? one : { ...one, median: medianOf(prices) };
  });
}

/** The columns of a model: its drawing, and its name as a link to its cars around. */
function modelColumns(
  choice: LotChoice,
): readonly TableColumn<{ readonly make: string; readonly model: string | null }>[] {
  const around = { inventory_type: typesOf(choice.condition), ...aroundDealer(choice.dealer, buyRadius) };
  return [
    { title: "", cell: (model) => <CarDrawing car={model} look="mini" /> },
    {
      title: "Model",
      value: ({ make, model }) => `${make} ${model ?? ""}`,
      path: ({ make, model }) =>
        `/shop?${new URLSearchParams({ make: listItem(make, ","), model: listItem(model ?? "", ","), ...around })}`,
    },
  ];
}

interface BuyProps {
  readonly choice: LotChoice;
  readonly buying: Buying;
}

export const BuySheet = (props: BuyProps): JSX.Element =>
  isOfFit(props.choice) ? <FittingSheet {...props} /> : <MissingSheet {...props} />;

const MissingSheet = ({ choice, buying: { models = [] } }: BuyProps): JSX.Element => {
  const { condition, isOwn, query } = choice;
  const most = Math.max(0.6, ...models.map(({ sold }) => sold));
  const names = ["make", "model", "sold", "offered", "yours", "median"] as const;
  const inFile = names.map((name) => ({ title: name, sort: name, value: (one: MarketModel) => one[name] }));
  return (
    <TableSheet
      id="buy"
      title={`What to buy: sells here, missing on ${isOwn ? "your" : "its"} lot`}
      of={buyNote(condition, buyRadius, isOwn)}
      tools={
        <>
          <a href={numbersUrl({ columns: inFile, rows: models })} download="what-to-buy.csv">
            As CSV
          </a>
          <a
            href={lotPath(choice, { buy: "fit" }, "#buy")}
          >{`What ${isOwn ? "I sell" : "it sells"} faster than others`}</a>
        </>
      }
      label="Models to buy"
      rows={models}
      hasPictures
      empty={`No ${condition} model has 10 cars or more within ${buyRadius} miles, of which some were sold.`}
      sorts={{ path: pathOfLot(choice), query }}
      first="-sold"
      columns={[
        ...modelColumns(choice),
        {
          title: "Sold in 30 days",
          sort: "sold",
          value: ({ sold }) => sold,
          cell: ({ sold }) => (
            <span class="nb">
              <Meter part={sold} whole={most} />
              {wholePercent(sold)}
            </span>
          ),
        },
        { title: "Offered", value: ({ offered }) => offered, format: count },
        {
          title: isOwn ? "Yours" : "Here",
          sort: "yours",
          value: ({ yours }) => yours,
          format: (yours) => (yours === 0 ? "none" : count(yours)),
        },
        { title: "Median price", sort: "median", value: ({ median }) => median, format: dollars },
      ]}
    />
  );
};

const FittingSheet = ({ choice, buying: { fitting } }: BuyProps): JSX.Element => {
  const types = typesOf(choice.condition).split(",");
  const models = (fitting?.data.models ?? []).filter(
    ({ inventory_type, relative }) => types.includes(inventory_type) && relative !== null && relative < 1,
  );
  return (
    <TableSheet
      id="buy"
      title={`What ${choice.isOwn ? "you sell" : "it sells"} faster than others`}
      of={`Models by the days until a sale, of ${amountOf(fitting?.meta.sold_days, "day")} of sales within ${buyRadius} miles.`}
      tools={<a href={lotPath(choice, { buy: undefined }, "#buy")}>What to buy</a>}
      label="Models that sell faster here"
      rows={models}
      hasPictures
      empty={`No ${choice.condition} model with three sales here and ten nearby sells faster here.`}
      columns={[
        ...modelColumns(choice),
        { title: "Sold here", value: ({ sales }) => sales, format: count },
        { title: "Days here", value: ({ median_days }) => median_days, format: count },
        { title: "Days nearby", value: ({ market_median_days }) => market_median_days, format: count },
        { title: "Faster", value: ({ relative }) => relative, format: (share) => signedPercent(share - 1) },
      ]}
    />
  );
};

/** The models of the first search if it has several: what each costs and how fast it sells, each a link to its market. */
import type { JSX } from "preact";
import { listItem } from "../../contract/lists.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { CarDrawing, plainCar } from "../drawings/car-drawing.tsx";
import { count, dollars, wholePercent } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { acceptedFilters, carsPath, type MarketSearch, marketPath } from "./market-search.ts";
import type { SearchTrend } from "./market-trends.ts";

const modelsMax = 10;

export interface SearchModels {
  readonly search: MarketSearch;
  readonly models: AnswerOf<"getGroups">["data"];
  readonly total: number;
}

/** Loads the models with the most cars of a search; undefined if it has one model. */
export async function loadModels(
  requests: PageRequests,
  trend: SearchTrend | undefined,
): Promise<SearchModels | undefined> {
  if (trend === undefined || trend.loss !== undefined) return undefined;
  const { search } = trend;
  const groups = { group_by: "make,model", metric: "price.median,sell_through", limit: String(modelsMax) };
  const answer = await requests.loadPart(`models of ${search.plural}`, () =>
    requests.call("getGroups", { ...acceptedFilters("getGroups", search).filters, ...groups }),
  );
  if (answer === undefined || answer.data.length < 2) return undefined;
  return { search, models: answer.data, total: answer.meta.total_groups };
}

type Model = SearchModels["models"][number];

interface ModelsProps {
  readonly of: SearchModels;
  readonly query: URLSearchParams;
}

export const ModelsSheet = ({ of: { search, models, total }, query }: ModelsProps): JSX.Element => {
  const { words, name } = search;
  const filterOf = ({ values: { make, model } }: Model) => ({
    make: listItem(make ?? "", ","),
    model: listItem(model ?? "", ","),
  });
  const pathOf = (model: Model): string =>
    marketPath(query, { show: words === "" ? undefined : words, ...filterOf(model) });
  return (
    <Sheet
      title={`The most offered ${name} models`}
      of={`The ${models.length} of ${count(total)} with the most cars for sale. Depreciation follows one model: choose one.`}
    >
      <DataTable
        label={`The most offered ${name} models`}
        rows={models}
        hasPictures
        columns={[
          { title: "", cell: ({ values }) => <CarDrawing car={plainCar(values)} look="mini" /> },
          { title: "Model", value: ({ values }) => `${values.make} ${values.model}`, path: pathOf },
          {
            title: "For sale",
            value: (model) => model.count,
            format: count,
            path: (model) => carsPath(search, filterOf(model)),
          },
          { title: "Median price", value: ({ metrics: [price] }) => price?.value, format: dollars },
          { title: "Sold in 30 days", value: ({ metrics: [, sold] }) => sold?.value, format: wholePercent },
        ]}
      />
    </Sheet>
  );
};

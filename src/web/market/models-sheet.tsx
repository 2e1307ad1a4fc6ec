/** The models of a search that has several: what each costs and how fast it sells, each a link to its market. */
import type { JSX } from "preact";
import { listItem } from "../../contract/lists.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { count, dollars, wholePercent } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import { acceptedFilters, besideName, carsPath, type MarketSearch, marketPath } from "./market-search.ts";
import type { SearchTrend } from "./market-trends.ts";

const modelsMax = 10;

export interface SearchModels {
  readonly search: MarketSearch;
  readonly isOwn: boolean;
  readonly models: AnswerOf<"getGroups">["data"];
  readonly total: number;
}

/** Loads the models with the most cars of each search without one model. */
export async function loadModels(
  requests: PageRequests,
  trends: readonly SearchTrend[],
): Promise<readonly SearchModels[]> {
  const loaded = await Promise.all(
    trends.map(async ({ search, loss }, index) => {
      if (loss !== undefined) return undefined;
      const { filters } = acceptedFilters("getGroups", search);
      const answer = await requests.loadPart(`models of ${search.plural}`, () =>
        requests.call("getGroups", {
          ...filters,
          group_by: "make,model",
          metric: "price.median,sell_through",
          limit: String(modelsMax),
        }),
      );
      if (answer === undefined || answer.data.length < 2) return undefined;
      return { search, isOwn: index === 0, models: answer.data, total: answer.meta.total_groups };
    }),
  );
  return loaded.filter((models) => models !== undefined);
}

type Model = SearchModels["models"][number];

const metricOf = ({ metrics }: Model, name: string): number | null =>
  metrics.find((metric) => metric.name === name)?.value ?? null;

const known = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value);

interface ModelsProps {
  readonly of: SearchModels;
  readonly query: URLSearchParams;
}

export const ModelsSheet = ({ of: { search, isOwn, models, total }, query }: ModelsProps): JSX.Element => {
  const filterOf = ({ values: { make, model } }: Model) => ({
    make: listItem(make ?? "", ","),
    model: listItem(model ?? "", ","),
  });
  const pathOf = (model: Model): string => {
    const { words, given } = search;
    if (isOwn) return marketPath(query, { show: words === "" ? undefined : words, ...filterOf(model) });
    return marketPath(query, { [besideName]: new URLSearchParams({ ...given, ...filterOf(model) }).toString() });
  };
  return (
    <Sheet
      title={`The most offered ${search.name} models`}
      of={`The ${models.length} of ${count(total)} with the most cars for sale. Depreciation follows one model: choose one.`}
    >
      <DataTable
        label={`The most offered ${search.name} models`}
        rows={models}
        hasPictures
        columns={[
          {
            title: "",
            cell: ({ values }) => (
              <CarDrawing car={{ ...values, vin: "model", exterior_color: "cavalry blue" }} look="mini" />
            ),
          },
          {
            title: "Model",
            cell: (model) => <a href={pathOf(model)}>{[model.values.make, model.values.model].join(" ")}</a>,
          },
          {
            title: "For sale",
            isNumber: true,
            cell: (model) => <a href={carsPath(search, filterOf(model))}>{count(model.count)}</a>,
          },
          {
            title: "Median price",
            isNumber: true,
            cell: (model) => known(metricOf(model, "price.median"), (price) => dollars(Math.round(price))),
          },
          {
            title: "Sold in 30 days",
            isNumber: true,
            cell: (model) => known(metricOf(model, "sell_through"), wholePercent),
          },
        ]}
      />
    </Sheet>
  );
};

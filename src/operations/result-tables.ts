/** The operations that have a table, and how the `data` of each becomes one. */
import type { Json, Row } from "../base/json.ts";
import { tableColumns } from "../contract/tables.ts";
import type { AnswerOf, OperationId, QueryOf } from "../contract/types.ts";
import type { Table } from "../formats/table.ts";
import { resolveFields } from "../query/fields.ts";
import { facetRows } from "./facet-rows.ts";
import type { EndpointId } from "./operation-request.ts";
import { dataOf, type Result } from "./result.ts";
import { trendRows } from "./trend-rows.ts";

interface TableRule<Id extends EndpointId> {
  readonly rows: (data: AnswerOf<Id>["data"]) => readonly Row[];
  /** Returns the names of the columns that a request selects. Without it, all columns are served. */
  readonly select?: (query: QueryOf<Id>) => readonly string[];
}

const items = (data: readonly object[]): readonly Row[] => data.map((item) => ({ ...item }));

const selectFields = ({
  fields,
  include = [],
}: QueryOf<"searchListings" | "searchDealerListings">): readonly string[] => [...resolveFields(fields), ...include];

const rules: { readonly [Id in EndpointId]?: TableRule<Id> } = {
  searchListings: { rows: items, select: selectFields },
  searchDealerListings: { rows: items, select: selectFields },
  searchDealers: { rows: items },
  getFacets: { rows: facetRows },
  getTrends: { rows: trendRows },
};

/** Returns the rows of an operation's `data`; undefined if it has no table. */
export function tableRowsOf(id: OperationId, data: Json | object): readonly Row[] | undefined {
  const byId: Readonly<Partial<Record<OperationId, { readonly rows: (data: never) => readonly Row[] }>>> = rules;
  return byId[id]?.rows(data as never);
}

/** Returns the result of an operation as a table, with `meta` and `pagination` as its metadata. */
export function resultTable<Id extends EndpointId>(id: Id, query: QueryOf<Id>, result: Result): Table {
  const rule: TableRule<Id> | undefined = rules[id];
  if (rule === undefined) throw new TypeError(`No table of ${id}: expected a row in src/operations/result-tables.ts.`);
  const { meta, pagination } = result;
  const selected = rule.select === undefined ? undefined : new Set(rule.select(query));
  return {
    columns: tableColumns(id).filter(({ name }) => selected?.has(name) ?? true),
    rows: tableRowsOf(id, dataOf(result)) ?? [],
    metadata: {
      "carquet.meta": JSON.stringify(meta),
      ...(pagination === undefined ? {} : { "carquet.pagination": JSON.stringify(pagination) }),
    },
  };
}

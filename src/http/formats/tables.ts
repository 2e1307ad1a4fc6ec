/** The operations that answer in every format, and how the `data` of each becomes a table. */
import type { MeteredId } from "../../accounts/policy/prices.ts";
import type { Row } from "../../base/json.ts";
import { tableColumns } from "../../contract/tables.ts";
import type { OperationId, QueryOf } from "../../contract/types.ts";
import type { Table } from "../../formats/table.ts";
import { resolveFields } from "../../query/fields.ts";
import type { EndpointResult } from "../endpoints.ts";
import { facetRows } from "./facet-rows.ts";
import { trendRows } from "./trend-rows.ts";

interface TableRule<Id extends MeteredId> {
  /** Returns the rows of `data`, which is JSON text. */
  readonly rows: (data: string) => readonly Row[];
  /** Returns the names of the columns that a request selects. Without it, all columns are served. */
  readonly select?: (query: QueryOf<Id>) => readonly string[];
}

const items = (data: string): readonly Row[] => JSON.parse(data);

const selectFields = ({
  fields,
  include = [],
}: QueryOf<"searchListings" | "searchDealerListings">): readonly string[] => [...resolveFields(fields), ...include];

const rules: { readonly [Id in MeteredId]?: TableRule<Id> } = {
  searchListings: { rows: items, select: selectFields },
  searchDealerListings: { rows: items, select: selectFields },
  searchDealers: { rows: items },
  getFacets: { rows: (data) => facetRows(JSON.parse(data)) },
  getTrends: { rows: (data) => trendRows(JSON.parse(data)) },
};

/** Returns the rows of an operation's `data`, which is JSON text; undefined if it answers in no format that holds tables. */
export function tableRowsOf(id: OperationId, data: string): readonly Row[] | undefined {
  const byId: Readonly<Partial<Record<OperationId, Pick<TableRule<MeteredId>, "rows">>>> = rules;
  return byId[id]?.rows(data);
}

/** Returns the result of an operation as a table, with `meta` and `pagination` as its metadata. */
export function resultTable<Id extends MeteredId>(id: Id, query: QueryOf<Id>, result: EndpointResult): Table {
  const rule: TableRule<Id> | undefined = rules[id];
  if (rule === undefined) throw new TypeError(`No table of ${id}: expected a row in src/http/formats/tables.ts.`);
  const { data, meta, pagination } = result;
  const selected = rule.select === undefined ? undefined : new Set(rule.select(query));
  return {
    columns: tableColumns(id).filter(({ name }) => selected?.has(name) ?? true),
    rows: rule.rows(data),
    metadata: {
      "carquet.meta": JSON.stringify(meta),
      ...(pagination === undefined ? {} : { "carquet.pagination": JSON.stringify(pagination) }),
    },
  };
}

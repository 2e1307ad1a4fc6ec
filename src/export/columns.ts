/**
 * Columns of an export, as SQL: the values that pages of the search and listings serve, computed by the engine for all matches at once.
 *
 * Values are in their served form, as in JSON: timestamps and dates are text, lists are lists. `storedValue` casts them to the types of a format.
 */
import { integerIn, type Row } from "../base/json.ts";
import { vocabulary } from "../contract/document.ts";
import { type Column, tableColumns } from "../contract/tables.ts";
import type { QueryOf } from "../contract/types.ts";
import { type Sql, sql } from "../db/sql.ts";
import { timeText } from "../formats/file-writer.ts";
import { flatColumns, tokensInOrder, tokenWords } from "../lake/analyst/flat-listings.ts";
import { servedColumns } from "../lake/served-columns.ts";
import type { Point } from "../listing/geography.ts";
import { type Expansion, fieldsAmong } from "../query/fields.ts";
import { distanceMiles } from "../query/geography.ts";
import type { SearchPlan } from "../query/search.ts";
import { optionsByMake } from "../serving/dimensions.ts";
import type { LakeVersion } from "../serving/lake-version.ts";

/** The values of a column: SQL over `facts` (the matches), `builds`, `dealers`, and the relations of `joins`. */
interface ColumnValues {
  readonly value: Sql;
  /** The relations that `value` needs besides the listing, its build and its dealer. */
  readonly needs?: readonly JoinedRelation[];
}

export interface ExportedColumn extends ColumnValues {
  readonly column: Column;
}

const joins = {
  tokens_in_order: sql`CROSS JOIN (${tokensInOrder}) AS tokens_in_order`,
  make_options: sql`LEFT JOIN (${optionsByMake}) AS make_options ON make_options.make = builds.make`,
  distances: sql`LEFT JOIN distances ON distances.dealer_key = facts.dealer_key`,
} as const;

type JoinedRelation = keyof typeof joins;

const expansionColumns: Readonly<Record<Expansion, ColumnValues>> = {
  price_history: { value: servedColumns.price_history },
  options: {
    value: sql`list_filter(coalesce(make_options.options, []),
      lambda described: list_contains(${tokenWords("options_packages")}, described.code))`,
    needs: ["tokens_in_order", "make_options"],
  },
};

/** All columns that exports can have, in their order: those of pages, then those that only exports have. */
export const exportColumns: readonly Column[] = [...tableColumns("searchListings"), ...tableColumns("exportListings")];

type FieldName = QueryOf<"exportListings">["fields"][number];

/** Columns that listings serve in another form than their files and their analyst views have. */
const servedForms: Readonly<Record<string, Sql>> = {
  ...servedColumns,
  last_checked_at: timeText(sql`facts.last_checked_at`),
  window_sticker_verified: sql`coalesce(facts.window_sticker_verified, false)`,
  pricing: sql`CASE WHEN facts.pricing IS NOT NULL THEN struct_update(facts.pricing, line_items :=
    list_transform(coalesce(facts.pricing.line_items, []), lambda item, position:
      struct_update(item, row_order := coalesce(item.row_order, position::INTEGER)))) END`,
};

/** Returns the columns of a search that parameter `fields` selects. */
export function exportedColumns(
  { include, mode, origin }: SearchPlan,
  fields: readonly FieldName[],
): readonly ExportedColumn[] {
  const selected = new Set<string>(fieldsAmong(vocabulary("exportListings", "fields"), fields));
  const expansions: ReadonlyMap<string, ColumnValues> = new Map(
    include.map((name) => [name, expansionColumns[name]] as const),
  );
  return exportColumns.flatMap((column) => {
    const { name } = column;
    if (selected.has(name)) return [{ column, ...fieldColumn(name, mode.status, origin) }];
    const expansion = expansions.get(name);
    return expansion === undefined ? [] : [{ column, ...expansion }];
  });
}

function fieldColumn(field: string, status: string, origin: Point | undefined): ColumnValues {
  if (field === "status" || field === "inventory_status") return { value: sql`${status}` };
  if (field === "distance_miles")
    return origin === undefined
      ? { value: sql`NULL::DOUBLE` }
      : { value: sql`distances.tenths / 10`, needs: ["distances"] };
  const column = flatColumns[field];
  if (column === undefined) throw new TypeError(`Unknown field "${field}": expected a column of flat listings.`);
  if (column.of === "tokens") return { value: tokenWords(column.column), needs: ["tokens_in_order"] };
  return { value: servedForms[field] ?? column.value };
}

/** Returns a query for the given columns of some matches, in order. Reads the tables of `version`. */
export async function selectStatement(
  columns: readonly ExportedColumn[],
  select: Sql,
  { origin }: SearchPlan,
  version: LakeVersion,
): Promise<(matches: Sql) => Sql> {
  const needed = new Set(columns.flatMap(({ needs }) => needs ?? []));
  const distances =
    needed.has("distances") && origin !== undefined
      ? sql`WITH distances AS (${await distancesFrom(origin, version)})`
      : sql``;
  const joined = [...needed].reduce((all, relation) => sql`${all} ${joins[relation]}`, sql``);
  return (matches) => sql`
    ${distances} SELECT ${select}
    FROM (${matches}) AS facts
    LEFT JOIN builds ON builds.build_key = facts.build_key
    LEFT JOIN dealers ON dealers.dealer_key = facts.dealer_key
    ${joined}
    ORDER BY facts.sort_key`;
}

/** Returns the distance of each dealer from an origin in tenths of a mile, as pages compute it. Dealers without coordinates are absent. */
async function distancesFrom(origin: Point, version: LakeVersion): Promise<Sql> {
  const dealers = await version.rows(sql`SELECT dealer_key, latitude, longitude FROM dealers`);
  const known = dealers.flatMap((dealer: Row) => {
    const miles = distanceMiles(dealer, origin);
    return miles === null ? [] : [{ key: integerIn(dealer, "dealer_key"), tenths: Math.round(miles * 10) }];
  });
  return sql`
    SELECT unnest(${known.map(({ key }) => key)}::INTEGER[]) AS dealer_key,
           unnest(${known.map(({ tenths }) => tenths)}::INTEGER[]) AS tenths`;
}

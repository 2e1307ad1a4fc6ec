/** The ids of an attribute's values, by which rows are grouped. */
import { ident, type Sql, sql } from "../../db/sql.ts";
import { type CountedName, listNames } from "../../listing/schema.ts";
import { setsOf } from "./build.ts";
import type { IndexContext } from "./where.ts";

/** Selects the id of the value of an attribute, of a list that of its set; 0 without an attribute. */
export const idOf = (attribute: CountedName | undefined): Sql => (attribute === undefined ? sql`0` : ident(attribute));

/** Returns rows with a column `id` (see `idOf`), with the ids of the tokens instead of a set's: a row for each. */
export function withTokens(rows: Sql, attribute: CountedName | undefined, { catalog }: IndexContext): Sql {
  const list = listNames.find((one) => one === attribute);
  if (list === undefined) return rows;
  return sql`SELECT token AS id, found.* EXCLUDE (id) FROM (${rows}) AS found JOIN ${setsOf(catalog, list)} AS sets ON sets."set" = found.id`;
}

/** Entities of HTML in texts: all named ones, and numbers of characters, as browsers read them. */
import { characterEntities } from "character-entities";
import type { Session } from "../../db/duckdb.ts";
import { literal, type Sql, sql } from "../../db/sql.ts";

/** What the numbers 128 to 159 stand for, which many programs write for the characters of Windows-1252. */
const windowsCharacters = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Sets the names that `decodedEntities` knows, for a session, unless it has them. */
export async function loadEntities(session: Session): Promise<void> {
  if (await session.hasRows(sql`WHERE getvariable('html_entities') IS NOT NULL`)) return;
  await session.run(
    sql`SET VARIABLE html_entities = MAP(${Object.keys(characterEntities)}::VARCHAR[], ${Object.values(characterEntities)}::VARCHAR[])`,
  );
}

const entity = literal("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});");

/** Returns a text with the characters that its entities stand for, decoded once. What is no entity is left. Requires `loadEntities`. */
export function decodedEntities(text: Sql): Sql {
  const name = sql`found[index][2:-2]`;
  const code = sql`TRY_CAST(regexp_replace(${name}, '^#[xX]?', if(${name}[2] IN ('x', 'X'), '0x', '')) AS INTEGER)`;
  const character = sql`list_transform([${code}], lambda code: CASE WHEN code BETWEEN 128 AND 159 THEN ${literal(windowsCharacters)}[code - 127]
    WHEN code BETWEEN 1 AND 55295 OR code BETWEEN 57344 AND 1114111 THEN chr(code) END)[1]`;
  const decoded = sql`if(starts_with(${name}, '#'), ${character}, getvariable('html_entities')[${name}])`;
  return sql`CASE WHEN contains(${text}, '&') THEN list_transform([regexp_extract_all(${text}, ${entity})], lambda found: array_to_string(list_transform(
    regexp_split_to_array(${text}, ${entity}), lambda piece, index: concat(piece, coalesce(${decoded}, found[index]))), ''))[1] ELSE ${text} END`;
}

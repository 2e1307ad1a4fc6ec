/**
 * Completes the word before the cursor: keywords, functions, tables, views and columns of the catalog, and dot commands. Columns are those of
 * the relations in FROM, if the catalog has all of them.
 */
import { type Row, textIn } from "../../base/json.ts";
import type { AnalystDatabase } from "../../lake/analyst/analyst-database.ts";
import { dotCommandNames } from "./dot-commands.ts";

/** The completions of a word, and that word, as `node:readline` takes them. */
export type Completion = [completions: string[], word: string];

const catalogQuery = `
  SELECT 'keyword' AS kind, keyword_name AS word, '' AS relation FROM duckdb_keywords()
  UNION SELECT 'name', view_name, '' FROM duckdb_views() WHERE NOT internal
  UNION SELECT 'name', table_name, '' FROM duckdb_tables() WHERE NOT internal
  UNION SELECT 'column', column_name, lower(table_name) FROM duckdb_columns() WHERE NOT internal
  UNION SELECT 'name', function_name, '' FROM duckdb_functions() WHERE function_name SIMILAR TO '[a-z]\\w*'
  ORDER BY word`;

/** Completes the word at the end of `line`, a part of the statement `text`. */
export async function complete(database: AnalystDatabase, line: string, text: string): Promise<Completion> {
  if (/^\s*\.\w*$/.test(line)) {
    const word = line.trim();
    return [dotCommandNames.filter((name) => name.startsWith(word)), word];
  }
  const [word = ""] = /\w*$/.exec(line) ?? [];
  if (word === "") return [[], word];
  const { rows } = await database.query(catalogQuery);
  const relations = relationsIn(text, rows);
  const matches = rows
    .filter((row) => relations.length === 0 || row.relation === "" || relations.includes(textIn(row, "relation")))
    .filter((row) => textIn(row, "word").toLowerCase().startsWith(word.toLowerCase()))
    .map((row) => spelledAs(word, textIn(row, "word"), row.kind === "keyword"));
  return [[...new Set(matches)], word];
}

/** The relation after FROM or JOIN, and what follows it if that is an argument or, after an alias, another relation. */
const relationAfter = /\b(?:from|join)\s+(\w*)(\(|(?:\s+(?:as\s+)?\w+)?\s*,)?/gi;

/** Returns the relations of a statement, in lower case; none if the catalog does not have all of them. */
function relationsIn(text: string, catalog: readonly Row[]): readonly string[] {
  const known = new Set(catalog.map((row) => row.relation));
  const found = [...text.matchAll(relationAfter)].map(([, name = "", more]) => (more ? "" : name.toLowerCase()));
  return found.every((name) => name !== "" && known.has(name)) ? found : [];
}

/** Continues a typed word: a keyword in its case, another name in the name's own. */
function spelledAs(typed: string, name: string, isKeyword: boolean): string {
  const isUpperCase = typed === typed.toUpperCase() && typed !== typed.toLowerCase();
  return isKeyword && isUpperCase ? name.toUpperCase() : typed + name.slice(typed.length);
}

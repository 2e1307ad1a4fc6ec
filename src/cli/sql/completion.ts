/** Completes the word before the cursor: keywords, functions, tables, views and columns of the catalog, and dot commands. */
import { textIn } from "../../base/json.ts";
import type { AnalystDatabase } from "../../lake/analyst/analyst-database.ts";
import { dotCommandNames } from "./dot-commands.ts";

/** The completions of a word, and that word, as `node:readline` takes them. */
export type Completion = [completions: string[], word: string];

const catalogQuery = `
  SELECT 'keyword' AS kind, keyword_name AS word FROM duckdb_keywords()
  UNION SELECT 'name', view_name FROM duckdb_views() WHERE NOT internal
  UNION SELECT 'name', table_name FROM duckdb_tables() WHERE NOT internal
  UNION SELECT 'name', column_name FROM duckdb_columns() WHERE NOT internal
  UNION SELECT 'name', function_name FROM duckdb_functions() WHERE function_name SIMILAR TO '[a-z]\\w*'
  ORDER BY word`;

export async function complete(database: AnalystDatabase, line: string): Promise<Completion> {
  if (/^\s*\.\w*$/.test(line)) {
    const word = line.trim();
    return [dotCommandNames.filter((name) => name.startsWith(word)), word];
  }
  const [word = ""] = /\w*$/.exec(line) ?? [];
  if (word === "") return [[], word];
  const { rows } = await database.query(catalogQuery);
  const matches = rows
    .filter((row) => textIn(row, "word").toLowerCase().startsWith(word.toLowerCase()))
    .map((row) => spelledAs(word, textIn(row, "word"), row.kind === "keyword"));
  return [[...new Set(matches)], word];
}

/** Continues a typed word: a keyword in its case, another name in the name's own. */
function spelledAs(typed: string, name: string, isKeyword: boolean): string {
  const isUpperCase = typed === typed.toUpperCase() && typed !== typed.toLowerCase();
  return isKeyword && isUpperCase ? name.toUpperCase() : typed + name.slice(typed.length);
}

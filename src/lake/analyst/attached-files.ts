/** Analysts' files that a session reads as views, beside those of the version. The engine detects the types of columns. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, pathLiteral, type Sql, sql } from "../../db/sql.ts";

const readCsv = (path: Sql): Sql => sql`read_csv(${path}, header = true, hive_partitioning = false)`;
const readNdjson = (path: Sql): Sql =>
  sql`read_json(${path}, format = 'newline_delimited', records = true, hive_partitioning = false)`;
const readParquet = (path: Sql): Sql => sql`read_parquet(${path}, hive_partitioning = false)`;

/** The relation of a file, by the extension of its name. */
const readers: Readonly<Record<string, (path: Sql) => Sql>> = {
  ".csv": readCsv,
  ".csv.gz": readCsv,
  ".ndjson": readNdjson,
  ".ndjson.gz": readNdjson,
  ".jsonl": readNdjson,
  ".parquet": readParquet,
};

/** Names that a view cannot have, or that already mean something in a session. */
const takenNames = sql`
  SELECT view_name AS name FROM duckdb_views() WHERE NOT internal
  UNION ALL SELECT function_name FROM duckdb_functions() WHERE NOT internal
  UNION ALL SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')`;

/**
 * Creates a view for each file, by the names of the views; returns the absolute paths of the files. Throws a UserError for a name that is
 * taken, and for a file that is missing, malformed or of an unknown format.
 */
export async function attachFiles(session: Session, files: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const [view, file] of files) {
    await checkViewName(session, view, file);
    const path = resolve(file);
    const rows = relationOfFile(path, printable(file));
    try {
      await session.run(sql`CREATE VIEW ${ident(view)} AS FROM ${rows}`);
    } catch (thrown) {
      throw new UserError(`Cannot attach ${printable(file)}: ${firstParagraph(messageOf(thrown))}`);
    }
    paths.push(path);
  }
  return paths;
}

async function checkViewName(session: Session, view: string, file: string): Promise<void> {
  if (await session.hasRows(sql`FROM (${takenNames}) WHERE lower(name) = lower(${view})`))
    throw new UserError(
      `Cannot attach ${printable(file)} as ${view}: expected a name that no view, macro or keyword has.`,
    );
}

function relationOfFile(path: string, shown: string): Sql {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true)
    throw new UserError(`Cannot attach ${shown}: ${found ? "not a file" : "no such file"}: expected a file to read.`);
  const [, read] = Object.entries(readers).find(([extension]) => path.toLowerCase().endsWith(extension)) ?? [];
  if (read !== undefined) return read(pathLiteral(path));
  const extensions = Object.keys(readers).join(", ");
  throw new UserError(`Cannot attach ${shown}: unknown format: expected a name that ends in one of ${extensions}.`);
}

/** Returns what an error of the engine says before its hints and the statement, as one line. */
const firstParagraph = (message: string): string => (message.split("\n\n")[0] ?? message).replaceAll(/\s*\n/g, " ");

/**
 * Allows an analyst's statements that read, and those that change only tables and views in this process's memory. No statement changes a file or a
 * setting, runs another text as SQL, or loads code.
 *
 * The engine restricts file access to the lake's Parquet files and the session's own folder, but to both for writing too; these rules refuse every
 * statement and function that writes.
 */
import { UserError } from "../../base/user-error.ts";
import { codeIn, withoutLeadingComments } from "./statements.ts";

const readingKinds: ReadonlySet<string> = new Set(["SELECT", "EXPLAIN"]);

/** Kinds of statements that change the database in memory: nothing else is attached. */
const memoryKinds: ReadonlySet<string> = new Set(["CREATE", "DROP", "INSERT", "UPDATE", "DELETE", "ALTER"]);

/**
 * Functions that a query can call and that do more than read: they write logs and profiles to files or to standard output, run text as
 * SQL, which could hide the name of another one, or fail with any text, so that a free error would hold data. Names that are usual for columns are
 * refused as calls only; the engine takes some characters of the category Cf for spaces.
 */
const refusedFunctions =
  /\b((?:enable|disable)_(?:logging|profile|profiling)|truncate_duckdb_logs|json_execute_serialized_sql|arrow_scan(?:_dumb)?|(?:force_)?checkpoint|(?:query|error)(?="?[\s\p{Cf}]*(?:\(|\/\*|--)))\b/iu;

const secretStatement = /\bcreate\s+(?:or\s+replace\s+)?(?:(?:temp|temporary|persistent)\s+)?secret\b/i;

const variableStatement = /^set\s+variable\b/i;

const explainPrefix = /^explain\s+(?:analyze\s+|\([^()]*\)\s*)?/i;

/** Throws a UserError if a text calls a refused function or creates a secret. To be checked before the text is planned. */
export function checkText(text: string): void {
  const code = codeIn(text);
  const [, name] = refusedFunctions.exec(code) ?? [];
  if (name !== undefined) throw new UserError(`Invalid function ${name}: expected one that only reads.`);
  if (secretStatement.test(code)) throw refuse("CREATE SECRET");
}

/** Throws a UserError if a statement of the given kind may not be run. `text` is the text that it is part of. */
export function checkStatement(kind: string, text: string): void {
  if (kind === "SET" && variableStatement.test(withoutLeadingComments(text))) return;
  if (!readingKinds.has(kind) && !memoryKinds.has(kind)) throw refuse(kind);
}

/** Throws a UserError if a statement of the given kind may not be explained; EXPLAIN ANALYZE runs it. */
export function checkExplained(kind: string): void {
  if (kind !== "SELECT") throw refuse(`EXPLAIN ${kind}`);
}

export const explainedText = (text: string): string => withoutLeadingComments(text).replace(explainPrefix, "");

export const hasResult = (kind: string): boolean => readingKinds.has(kind);

const refuse = (what: string): UserError =>
  new UserError(
    `Invalid statement ${what}: expected a query (SELECT, WITH, DESCRIBE, SUMMARIZE, SHOW, EXPLAIN), or a change of a table or view of the session.`,
  );

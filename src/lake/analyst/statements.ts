/**
 * Statements of analysts: splits SQL text at its semicolons, sets `$name` parameters as variables of the session, and allows what reads, or changes only
 * tables and views in this process's memory. No statement changes a file or a setting, runs another text as SQL, or loads code.
 *
 * The engine restricts file access to the lake's Parquet files and the session's folder, but to both for writing too; these rules refuse every
 * statement and function that writes.
 */
import { UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, Sql, sql } from "../../db/sql.ts";

/** The statements of a text that end with a semicolon, without it, and the text after the last one. */
interface SplitText {
  readonly statements: readonly string[];
  readonly rest: string;
}

/**
 * A comment, a string (with escapes, standard, dollar-quoted), a quoted identifier, a parameter or a semicolon of DuckDB's SQL. What has not ended matches
 * up to the end of the text. Comments can contain comments; two levels are enough here.
 */
const element =
  /--[^\n\r]*|\/\*(?:[^*/]|\*(?!\/)|\/(?!\*)|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:\*\/|$)|\b[eE]'(?:[^'\\]|\\.|'')*(?:'|$)|'[^']*(?:''[^']*)*(?:'|$)|"[^"]*(?:""[^"]*)*(?:"|$)|(?<![\w$])(\$(?:[a-z_]\w*)?\$).*?(?:\1|$)|(?<![\w$])\$([a-z_]\w*)|;/gis;

const blank = /^(?:\s|--[^\n\r]*(?:[\n\r]|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/;

/** Returns true for a text without a statement: white space and comments. */
export const isBlankStatement = (text: string): boolean => blank.test(text);

/** Splits a text at the semicolons outside of strings, quoted identifiers and comments. Omits blank statements. */
export function splitStatements(text: string): SplitText {
  const statements: string[] = [];
  let start = 0;
  for (const { 0: found, index } of text.matchAll(element)) {
    if (found !== ";") continue;
    const statement = text.slice(start, index);
    if (!isBlankStatement(statement)) statements.push(statement.trim());
    start = index + 1;
  }
  return { statements, rest: text.slice(start) };
}

/** Replaces each parameter of a text, such as `$make`; `replacement` receives its name. */
const replaceParameters = (text: string, replacement: (name: string) => string): string =>
  text.replace(element, (found: string, _quote: string | undefined, name: string | undefined) =>
    name === undefined ? found : replacement(name),
  );

/** A string, a quoted identifier, or a comment without another one in it, of a text without escapes and dollar-quoted strings. */
const plainElement = /'[^']*'|"[^"]*"|--[^\n\r]*|\/\*(?:(?!\/\*|\*\/).)*\*\//gs;

/**
 * Returns a text with its strings emptied and its comments blanked. Returns it unchanged if it has a backslash, a dollar sign or nested comments:
 * where its strings end is then for the engine to say.
 */
export function codeIn(text: string): string {
  if (/[\\$]/.test(text)) return text;
  const code = text.replace(plainElement, (found) => {
    if (found.startsWith('"')) return found;
    return found.startsWith("'") ? "''" : " ";
  });
  return code.includes("/*") ? text : code;
}

/** Returns a text without the white space and comments before its first word. */
export const withoutLeadingComments = (text: string): string =>
  text.replace(/^(?:\s|--[^\n\r]*(?:[\n\r]|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)+/, "");

/** The texts of parameters by their names, which are in lower case. */
export type Parameters = ReadonlyMap<string, string>;

const constants: ReadonlyMap<string, Sql> = new Map([
  ["true", sql`true`],
  ["false", sql`false`],
  ["null", sql`NULL`],
]);

/** Sets the variables of parameters. */
export async function setParameters(session: Session, parameters: Parameters): Promise<void> {
  for (const [name, text] of parameters) await session.run(sql`SET VARIABLE ${ident(name)} = ${valueIn(text)}`);
}

/** Returns a text whose parameters are read from variables. Throws a UserError for a parameter without a value. */
export const withVariables = (text: string, parameters: Parameters): string =>
  replaceParameters(text, (name) => {
    if (parameters.has(name.toLowerCase())) return `getvariable('${name}')`;
    throw new UserError(`Missing parameter $${name}: expected a value for ${name}.`);
  });

/** Throws a UserError for a parameter of a text that has no value, and for one with a value that the text does not name. */
export function checkParameters(text: string, parameters: Parameters): void {
  withVariables(text, parameters);
  const used = new Set<string>();
  replaceParameters(text, (name) => {
    used.add(name.toLowerCase());
    return name;
  });
  const unused = [...parameters.keys()].find((name) => !used.has(name));
  if (unused === undefined) return;
  const expected = used.size === 0 ? "no parameter" : `one of ${[...used].map((name) => `$${name}`).join(", ")}`;
  throw new UserError(`Unknown parameter ${unused}: expected ${expected}, as in the statements.`);
}

/** Returns the value of a text that is a number, a string, true, false or null in JSON; of another text, that text. */
function valueIn(text: string): Sql {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return new Sql([text], []);
  return constants.get(text) ?? sql`${stringIn(text) ?? text}`;
}

/** Returns the string that a text in JSON is; undefined for others. */
function stringIn(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined;
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

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

/** What shows the folders of the machine: settings of the engine, and the definitions of views and macros. Clients of a service read none. */
const foldersShown =
  /\b(current_setting|pg_(?:settings|proc|views)|sqlite_(?:temp_)?(?:master|schema)|information_schema(?=.*\bviews\b)|duckdb_(?:databases|extensions|external_file_cache|functions|logs|secrets|settings|temporary_files|views))\b/is;

const secretStatement = /\bcreate\s+(?:or\s+replace\s+)?(?:(?:temp|temporary|persistent)\s+)?secret\b/i;

const variableStatement = /^set\s+variable\b/i;

const explainPrefix = /^explain\s+(?:analyze\s+|\([^()]*\)\s*)?/i;

/** Throws a UserError for what a text may not name, of a client that may not see folders also what shows them. To be checked before the text is planned. */
export function checkText(text: string, seesFolders: boolean): void {
  const code = codeIn(text);
  const [, name] = refusedFunctions.exec(code) ?? [];
  if (name !== undefined) throw new UserError(`Invalid function ${name}: expected one that only reads.`);
  const [shown] = (seesFolders ? null : foldersShown.exec(code)) ?? [];
  if (shown !== undefined)
    throw new UserError(`Invalid relation ${shown}: expected one of the lake; DESCRIBE and SHOW name its columns.`);
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

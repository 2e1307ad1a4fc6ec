/**
 * Parameters of analysts' statements. `$name` reads a variable of the session, whose value is set before the first statement, so that no value
 * becomes a part of a statement's text.
 */
import { UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, Sql, sql } from "../../db/sql.ts";
import { replaceParameters } from "./statements.ts";

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

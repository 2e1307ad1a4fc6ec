/** Splits SQL text into statements at its semicolons, without parsing it. */

/** The statements of a text that end with a semicolon, without it, and the text after the last one. */
export interface SplitText {
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
export const replaceParameters = (text: string, replacement: (name: string) => string): string =>
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

/**
 * Lists as the text of one parameter: values and separators. A value in double quotes keeps the separators in it, as in PostgREST; in quotes, a backslash
 * stands before a quote or a backslash of the value.
 */

const quotedItem = String.raw`\s*"((?:[^"\\]|\\.)*)"`;

/** The items of a list, by separator: the quoted or the plain value, and what ends it. A `+` in a query string is a space, also between quoted values. */
const items: Readonly<Record<string, string>> = {
  ",": `${quotedItem}\\s*(,|$)|([^,]*)(,|$)`,
  "|": `${quotedItem}\\s*(\\||$)|([^|]*)(\\||$)`,
  "+": `${quotedItem}(?=\\s|\\+|$)(\\s*\\+|\\s*$|\\s+)|((?:[^+\\s]|\\s(?!\\s*"))*)(\\+|\\s*$|\\s+)`,
};

/** Returns the values of a list. */
export function splitList(text: string, separator: string): readonly string[] {
  if (!text.includes('"')) return text.split(separator);
  const item = new RegExp(items[separator] ?? "", "sy");
  const values: string[] = [];
  for (;;) {
    const [, quoted, quotedEnd, plain = "", end = quotedEnd] = item.exec(text) ?? [];
    values.push(quoted?.replaceAll(/\\(.)/gs, "$1") ?? plain);
    if (end === undefined || (end.trim() === "" && item.lastIndex >= text.length)) return values;
  }
}

/** Returns the text of a list with the given values: those that would be read differently are in quotes. */
export const joinList = (values: readonly string[], separator = ","): string =>
  values.map((value) => listItem(value, separator)).join(separator);

/** Returns a value as the text of a list of one. */
export const listItem = (value: string, separator = ","): string =>
  value.includes(separator) || /(^|\s)"/.test(value) ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : value;

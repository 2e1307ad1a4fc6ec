/** Names of columns in foreign files: matches them to those of a mapping, and makes repeated ones distinct. */

/** Returns a name without case, spaces and punctuation: providers write one header in many ways. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/**
 * Returns the columns that a mapping's name stands for: the one with exactly this name, else the first that equals it without case, spaces and
 * punctuation. If the name has a `*`, which stands for digits or nothing: all that match, by these numbers.
 */
export function matchingColumns(columns: readonly string[], name: string): readonly string[] {
  if (columns.includes(name)) return [name];
  const parts = name.split("*").map(foldName);
  if (parts.join("") === "") return [];
  const pattern = new RegExp(`^${parts.join("(\\d*)")}$`, "u");
  const found = columns.flatMap((column) => {
    const digits = pattern.exec(foldName(column))?.slice(1);
    return digits === undefined ? [] : [{ column, place: digits.map((number) => number.padStart(9, "0")).join() }];
  });
  if (parts.length === 1) return found.slice(0, 1).map(({ column }) => column);
  return found
    .sort((one, other) => (one.place < other.place ? -1 : Number(one.place > other.place)))
    .map(({ column }) => column);
}

/** Returns the names of the columns of a foreign file, each once in any case: the second `Photo` is `Photo (2)`, a fifth without a name `column 5`. */
export function distinctNames(names: readonly string[]): readonly string[] {
  const taken = new Set(["row"]);
  return names.map((name, index) => {
    const base = name.trim() === "" ? `column ${index + 1}` : name;
    let distinct = base;
    for (let number = base.toLowerCase() === "row" ? 1 : 2; taken.has(distinct.toLowerCase()); number += 1)
      distinct = number === 1 ? `${base}_` : `${base} (${number})`;
    taken.add(distinct.toLowerCase());
    return distinct;
  });
}

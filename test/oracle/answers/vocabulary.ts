/** Oracle of vocabularies: every value that the data has ever had, and the nearest of them to a misspelled one. */
import { projectText } from "../../../src/base/project-files.ts";
import { vocabulary } from "../../../src/contract/document.ts";
import type { Home } from "../../../src/listing/attribute.ts";
import { attributes, type CategoryName, categoryNames } from "../../../src/listing/schema.ts";
import type { LakeQuery } from "../../support/lakes/lakes.ts";

const isOpen = (name: CategoryName): boolean => vocabulary("searchListings", name).length === 0;
const openIn = (home: Home): readonly CategoryName[] =>
  categoryNames.filter((name) => attributes[name].home === home && isOpen(name));

/** The open attributes of each table, in the order of the answer. */
const ofBuilds = openIn("builds");
const ofDealers = openIn("dealers");
const ofListings = openIn("listings");
const kinds: Readonly<Record<string, string>> = { features: "feature", options_packages: "option" };

/** All attributes with an open vocabulary. */
export const openAttributes: readonly string[] = [...ofBuilds, ...ofDealers, ...ofListings, ...Object.keys(kinds)];

/** Attributes whose values have no words. */
export const wordless = ["year", "cylinders", "doors", "seating_capacity", "dealer_id"];

export type OracleVocabulary = ReadonlyMap<string, readonly string[]>;

/** Reads the values of every open attribute of a lake, whose queries `rows` runs. */
export async function readVocabulary(rows: LakeQuery): Promise<OracleVocabulary> {
  const valuesIn = async (query: string): Promise<readonly string[]> =>
    (await rows(`SELECT DISTINCT value::VARCHAR AS value FROM (${query}) WHERE value IS NOT NULL`)).map(({ value }) =>
      String(value),
    );
  const listings = (column: string): string =>
    ["listing_intervals", "missing", "sold", "ended"]
      .map((table) => `SELECT ${column} AS value FROM ${table}`)
      .join(" UNION ALL ");
  const queries: readonly (readonly [string, string])[] = [
    ...ofBuilds.map((name) => [name, `SELECT "${name}" AS value FROM builds`] as const),
    ...ofDealers.map((name) => [name, `SELECT "${name}" AS value FROM dealers`] as const),
    ...ofListings.map((name) => [name, listings(name)] as const),
    ...Object.entries(kinds).map(
      ([name, kind]) => [name, `SELECT token AS value FROM tokens WHERE kind = '${kind}'`] as const,
    ),
  ];
  const values = new Map<string, readonly string[]>();
  for (const [name, query] of queries) values.set(name, await valuesIn(query));
  return values;
}

const spellings = projectText("data/reference/spellings.csv")
  .split("\n")
  .map((line) => line.split(","));

/** Returns the word that a value is another spelling of, as ingest would unify them. */
export function meantBy(attribute: string, value: string, words: readonly string[]): string | undefined {
  const parts = (text: string | undefined) => JSON.stringify(text?.toLowerCase().split(/(?<!^)[\s_:.-]+/));
  const name = attribute.replace(/^base_(exterior|interior)_color$/, "base_color");
  const last = spellings.findLast(([listed, spelling]) => listed === name && parts(spelling) === parts(value));
  return words.find((word) => word === last?.[2]);
}

/** Returns the word with the fewest edits, at most a third of its letters; of several, the first in order. */
export function nearestTo(value: string, words: readonly string[]): string | undefined {
  const near = words
    .map((word) => ({ word, edits: editsBetween(value.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, edits }) => edits <= Math.floor(word.length / 3));
  const fewest = Math.min(...near.map(({ edits }) => edits));
  return near
    .filter(({ edits }) => edits === fewest)
    .map(({ word }) => word)
    .sort()[0];
}

/** Returns the Levenshtein distance, row by row. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + Number(one[i - 1] !== other[j - 1]);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/**
 * Synonyms for "Did you mean ...?": what words stand for that are no parameter or value of the API. `data/reference/synonyms.csv` has names of
 * parameters, under `*`, and values of closed vocabularies; the spellings that ingest unifies are those of the others.
 */
import { nearestWord } from "../base/nearest-word.ts";
import { projectText } from "../base/project-files.ts";

/** What a word stands for. */
interface Meaning {
  readonly word: string;
  /** A further sentence of a message, if the two are used differently; else empty. */
  readonly advice: string;
}

/** The name under which the table has the names of parameters. */
export const parameterNames = "*";

/** The parameters whose values the tables have under another name. */
const sharedVocabularies: ReadonlyMap<string, string> = new Map([
  ["facet", "facets"],
  ["fields", "facets"],
  ["base_exterior_color", "base_color"],
  ["base_interior_color", "base_color"],
]);

/** Returns the known word that a word stands for: by a synonym, else the nearest one. Without known words, every synonym counts. */
export function meantWord(parameter: string, word: string, known?: Iterable<string>): Meaning | undefined {
  const words = known === undefined ? undefined : [...known];
  const meaning = meaningOf(parameter, word);
  if (meaning !== undefined && (words === undefined || words.includes(meaning.word))) return meaning;
  const nearest = nearestWord(word, words ?? []);
  return nearest === undefined ? undefined : { word: nearest, advice: "" };
}

function meaningOf(parameter: string, word: string): Meaning | undefined {
  const included = parameter.replace(/^exclude_/, "");
  meanings ??= readMeanings();
  return meanings.get(keyOf(sharedVocabularies.get(included) ?? included, word));
}

let meanings: ReadonlyMap<string, Meaning> | undefined;

/** Reads both tables, which have no quoted cells, at the first use: most processes refuse nothing. */
function readMeanings(): ReadonlyMap<string, Meaning> {
  const rows = ["spellings", "synonyms"].flatMap((name) =>
    projectText(`data/reference/${name}.csv`).trimEnd().split("\n").slice(1),
  );
  return new Map(
    rows.map((row): readonly [string, Meaning] => {
      const [parameter = "", word = "", meaning = "", advice = ""] = row.split(",");
      return [keyOf(parameter, word), { word: meaning, advice }];
    }),
  );
}

/** Words are compared in any case, and with any characters between their parts. */
const keyOf = (parameter: string, word: string): string =>
  `${parameter} ${word.toLowerCase().replaceAll(/(?!^)[\s_:.-]+/g, " ")}`;

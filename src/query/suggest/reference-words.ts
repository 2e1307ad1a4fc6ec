/** Words of `data/reference/`: spellings of values, and phrases of questions. The files have no quoted cells, and are read at the first use. */
import { projectText } from "../../base/project-files.ts";
import { matchKeyOf } from "../../db/text-matching.ts";

/** A word, and what it stands for: a value of an attribute, or a part of a question's grammar. */
interface ReferenceWord {
  /** The attribute, the parameter of listing search, or the part of the grammar. */
  readonly kind: string;
  readonly word: string;
  readonly key: string;
  readonly value: string;
}

const tables = new Map<string, readonly ReferenceWord[]>();

function wordsOfTable(name: "spellings" | "phrases"): readonly ReferenceWord[] {
  const lines = projectText(`data/reference/${name}.csv`).trimEnd().split("\n").slice(1);
  return lines.map((line) => {
    const [kind = "", word = "", value = ""] = line.split(",");
    return { kind, word, key: matchKeyOf(word), value: value.replaceAll("|", ",") };
  });
}

/** Returns the rows of a table; in a value, `|` separates several ones. */
export function referenceWords(name: "spellings" | "phrases"): readonly ReferenceWord[] {
  const words = tables.get(name) ?? wordsOfTable(name);
  tables.set(name, words);
  return words;
}

/** Returns the spellings of a value. */
export const spellingsOf = (attribute: string, value: string): readonly string[] =>
  referenceWords("spellings")
    .filter(({ kind, value: one }) => one === value && kind === listOf(attribute))
    .map(({ word }) => word);

/** The exterior colors have the spellings of all base colors. */
const listOf = (attribute: string): string => (attribute === "base_exterior_color" ? "base_color" : attribute);

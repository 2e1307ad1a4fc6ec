/** Interpretation of a question for operation `interpretQuestion`: the filters that its words stand for, by rules and names; each word is accounted for. */
import type { QueryOf } from "../../contract/types.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { lexiconOf } from "./lexicon.ts";
import { mergeFilters, placeRadius } from "./merge-filters.ts";
import type { Suggestion } from "./names.ts";
import { QuestionParser } from "./parse-question.ts";
import { type FilterTexts, isUnderstood, type Meaning, type Understood } from "./reading.ts";
import { withStockNumbers } from "./stock-numbers.ts";
import { suggestAmong } from "./suggest.ts";

interface Words {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Schema `Interpretation`, without the URL. */
interface Interpretation {
  readonly filters: FilterTexts;
  readonly spans: readonly (Words & Meaning & { readonly corrected_from?: string })[];
  readonly ignored: readonly Words[];
  readonly unmatched: readonly (Words & { readonly reason?: string; readonly suggestions: readonly Suggestion[] })[];
  readonly ambiguous: readonly (Words & { readonly alternatives: readonly Meaning[] })[];
}

/** How many words that are not understood have suggestions, and how many each has. */
const suggestedWordsMax = 5;
const suggestionsMax = 3;

/** Returns what the words of a question stand for. */
export async function interpret({ q }: QueryOf<"interpretQuestion">, version: LakeVersion): Promise<Interpretation> {
  const lexicon = await lexiconOf(version);
  const parts = await withStockNumbers(q, new QuestionParser(q, lexicon).parse(), version);
  const readings = parts.flatMap(({ reading }) => (isUnderstood(reading) ? [reading] : []));
  const { filters, refused } = mergeFilters(readings, version);
  const understood = parts.flatMap(({ reading, ...words }) =>
    isUnderstood(reading) && !refused.has(reading) ? [{ words, reading }] : [],
  );
  const others = parts.flatMap(({ reading, ...words }) => {
    if (reading === undefined) return [];
    if (!isUnderstood(reading)) return [{ words, reason: reading.reason }];
    return refused.has(reading) ? [{ words, reason: refused.get(reading) }] : [];
  });
  return {
    filters,
    spans: understood.map(({ words, reading }) => ({ ...words, ...spanOf(reading, filters) })),
    ignored: parts.flatMap(({ reading, ...words }) => (reading === undefined ? [words] : [])),
    unmatched: others.map(({ words, reason }, index) => {
      if (reason !== undefined) return { ...words, reason, suggestions: [] };
      const max = index < suggestedWordsMax ? suggestionsMax : 0;
      return { ...words, suggestions: suggestAmong(words.text, max, lexicon.names) };
    }),
    ambiguous: understood.flatMap(({ words, reading: { alternatives = [] } }) =>
      alternatives.length === 0
        ? []
        : [{ ...words, alternatives: alternatives.map((one) => withRadius(one, filters)) }],
    ),
  };
}

/** Returns the fields of a span. */
const spanOf = (understood: Understood, all: FilterTexts) => ({
  ...withRadius(understood, all),
  ...(understood.correctedFrom === undefined ? {} : { corrected_from: understood.correctedFrom }),
});

/** Returns a meaning, a place with the radius around it unless other words have one. */
function withRadius({ attribute, value, filters }: Meaning, { radius = String(placeRadius) }: FilterTexts): Meaning {
  const isImplied = filters.postal_code !== undefined && radius === String(placeRadius);
  return { attribute, value, filters: isImplied ? { ...filters, radius } : filters };
}

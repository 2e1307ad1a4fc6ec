/** Interpretation of a question for operation `interpretQuestion`: the filters that its words stand for, by rules and names; each word is accounted for. */
import type { QueryOf } from "../../contract/types.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { lexiconOf } from "./lexicon.ts";
import { mergeFilters, placeRadius, planOf } from "./merge-filters.ts";
import type { Suggestion } from "./names.ts";
import { QuestionParser, type QuestionPart } from "./parse-question.ts";
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
  const read = await withStockNumbers(q, new QuestionParser(q, lexicon).parse(), version);
  const parts = await withListings(read, version);
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
      const isSuggested = index < suggestedWordsMax;
      return { ...words, suggestions: isSuggested ? suggestAmong(words.text, suggestionsMax, lexicon.names) : [] };
    }),
    ambiguous: understood.flatMap(({ words, reading: { alternatives = [] } }) =>
      alternatives.length === 0
        ? []
        : [{ ...words, alternatives: alternatives.map((one) => withRadius(one, filters)) }],
    ),
  };
}

/** At most this many other readings of a question that finds nothing are tried. */
const triesMax = 8;

/** Returns the parts of a question that finds nothing with the first other meaning of one of them that finds something; unchanged if none does. */
async function withListings(parts: readonly QuestionPart[], version: LakeVersion): Promise<readonly QuestionPart[]> {
  const others = parts.flatMap((part) => {
    const { reading } = part;
    if (!isUnderstood(reading)) return [];
    const { alternatives = [], ...first } = reading;
    // A place stays one: the words around it say that it is.
    const same = alternatives.filter((one) => isPlace(one) === isPlace(first));
    return same.map((one) => {
      const rest = [first, ...alternatives.filter((other) => other !== one)];
      const { attribute, value, filters } = one;
      return parts.map((other) =>
        other === part ? { ...part, reading: { ...first, attribute, value, filters, alternatives: rest } } : other,
      );
    });
  });
  if (others.length === 0 || (await countFound(parts, version)) > 0) return parts;
  for (const tried of others.slice(0, triesMax)) if ((await countFound(tried, version)) > 0) return tried;
  return parts;
}

const isPlace = ({ filters }: Meaning): boolean => filters.postal_code !== undefined;

async function countFound(parts: readonly QuestionPart[], version: LakeVersion): Promise<number> {
  const { filters } = mergeFilters(
    parts.flatMap(({ reading }) => (isUnderstood(reading) ? [reading] : [])),
    version,
  );
  const plan = planOf(filters, version);
  return (await plan.mode.listings.findPage({ ...plan, limit: 1 })).total;
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

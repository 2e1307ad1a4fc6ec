/** Names in questions: values of attributes in the words of the lexicon, and places. */
import { zipCodes } from "../geography.ts";
import type { Lexicon } from "./lexicon.ts";
import { nearestKeys } from "./misspellings.ts";
import { type City, citiesNamed, largeCityMin, wordsOfLargeCities } from "./places.ts";
import type { QuestionText, Token } from "./question.ts";
import type { Meaning, Understood } from "./reading.ts";

/** Other cities of the name are alternatives if they have at least this share of the inhabitants. */
const alternativeShareMin = 0.1;

/** Names of values, cities and states have at most this many tokens. */
const nameTokensMax = 6;
const cityTokensMax = 4;
const stateTokensMax = 3;

/** The most alternatives that are listed. */
const alternativesMax = 3;

/** The number of tokens with the same meanings, of which the first counts. */
interface Named {
  readonly length: number;
  readonly meanings: readonly Meaning[];
  /** The misspelt tokens. */
  readonly correctedFrom?: string | undefined;
}

/** Returns what tokens name, as a value or as a place: what more of them name; of equally many the value, the place after `in` or `near`. */
export function namedAt(
  question: QuestionText,
  at: number,
  lexicon: Lexicon,
  previous?: Understood,
): Understood | undefined {
  const value = valueAt(question, at, lexicon, previous);
  const place = placeAt(question, at, lexicon, previous);
  const [first, second] = previous?.attribute === "radius" ? [place, value] : [value, place];
  const { length, meanings, correctedFrom } = longer(first, second) ?? { length: 0, meanings: [] };
  const [meaning, ...others] = meanings;
  const correction = correctedFrom === undefined ? {} : { correctedFrom };
  return meaning && { length, ...meaning, alternatives: others.slice(0, alternativesMax), ...correction };
}

function longer(one: Named | undefined, other: Named | undefined): Named | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.length !== other.length) return one.length > other.length ? one : other;
  const meanings = [...one.meanings, ...other.meanings];
  const isFirst = ({ attribute, value }: Meaning, index: number): boolean =>
    meanings.findIndex((known) => known.attribute === attribute && known.value === value) === index;
  return { length: one.length, meanings: meanings.filter(isFirst) };
}

function valueAt(question: QuestionText, at: number, lexicon: Lexicon, previous?: Understood): Named | undefined {
  const ignored = question.phraseAt(at, "ignored")?.length ?? 0;
  // In upper case, IS is a model and OR a state, unless the whole question is in upper case.
  const isWord = ignored === 1 && (question.isUpperCase || !isUpperCase(question, at));
  for (let length = Math.min(nameTokensMax, question.tokens.length - at); length > (isWord ? 1 : 0); length -= 1) {
    if (length < ignored || (length === 2 && isArticleWithNumber(question, at))) continue;
    const meanings = lexicon
      .meaningsOf(question.keyOf(at, length), question.tokens[at + length - 1]?.key)
      .filter(({ attribute }) => attribute !== "state" || length > 1 || canBeState(question, at, false))
      .filter(
        ({ attribute, value }) => attribute !== "trim" || !/^\d+$/.test(value) || isOfModel(value, lexicon, previous),
      )
      .filter(({ attribute }) => attribute !== "trim" || !isWordAlone(question, at, length, lexicon));
    if (meanings.length > 0) return { length, meanings: inContext(question.tokens[at], meanings, lexicon, previous) };
  }
  return undefined;
}

/** A trim whose name is an ordinary word, such as Luxury, needs a make or model, or the word `trim`. */
const isWordAlone = (question: QuestionText, at: number, length: number, lexicon: Lexicon): boolean =>
  question.phraseAt(at, "word")?.length === length &&
  !question.tokens.some(({ key }, index) =>
    [key, question.keyOf(index, 2)].some(
      (one) => one === "trim" || lexicon.meaningsOf(one).some(({ attribute }) => ["make", "model"].includes(attribute)),
    ),
  );

const isUpperCase = (question: QuestionText, at: number): boolean => /^\p{Lu}+$/u.test(question.tokens[at]?.text ?? "");

/** `a 4 door` is no Audi A4. */
const isArticleWithNumber = (question: QuestionText, at: number): boolean =>
  /^[ai]$/.test(question.tokens[at]?.text ?? "") && /^\d/.test(question.tokens[at + 1]?.text ?? "");

/** The code of a state is in upper case, or follows `in`, `near` or a city. */
function canBeState(question: QuestionText, at: number, isAfterPlace: boolean): boolean {
  if (question.tokens[at]?.key.length !== 2) return true;
  const isWord = question.phraseAt(at, "ignored") !== undefined;
  return isWord ? isUpperCase(question, at) && !question.isUpperCase : isAfterPlace || isUpperCase(question, at);
}

const isOfModel = (trim: string, lexicon: Lexicon, previous: Understood | undefined): boolean =>
  previous?.attribute === "model" && lexicon.isTrimOf(previous.value, trim);

/** Moves the meanings to the front that their context suggests: trims of the model before them, and states in upper case. */
function inContext(
  word: Token | undefined,
  meanings: readonly Meaning[],
  lexicon: Lexicon,
  previous: Understood | undefined,
): readonly Meaning[] {
  const isCode = /^\p{Lu}{2}$/u.test(word?.text ?? "");
  const isFirst = ({ attribute, value }: Meaning): boolean =>
    (attribute === "trim" && isOfModel(value, lexicon, previous)) || (attribute === "state" && isCode);
  return [...meanings.filter(isFirst), ...meanings.filter((meaning) => !isFirst(meaning))];
}

function placeAt(question: QuestionText, at: number, lexicon: Lexicon, previous?: Understood): Named | undefined {
  const near = question.phraseAt(at, "near");
  const prefix = near?.length ?? question.phraseAt(at, "in")?.length ?? 0;
  const isNear = near !== undefined || previous?.attribute === "radius";
  const named = afterPrefix(question, at + prefix, lexicon, { isNear, isExpected: isNear || prefix > 0 });
  return named && { ...named, length: prefix + named.length };
}

interface PlaceContext {
  /** Whether a distance from the place is meant. */
  readonly isNear: boolean;
  /** Whether the words before it lead to a place. */
  readonly isExpected: boolean;
}

function afterPrefix(question: QuestionText, at: number, lexicon: Lexicon, context: PlaceContext): Named | undefined {
  const { isNear, isExpected } = context;
  const [, code = ""] = /^(\d{5})(?:-\d{4})?$/.exec(question.tokens[at]?.text ?? "") ?? [];
  if (zipCodes().has(code))
    return { length: 1, meanings: [{ attribute: "postal_code", value: code, filters: { postal_code: code } }] };
  const state = isExpected ? stateAt(question, at, lexicon) : undefined;
  const isMisspelt = state === undefined && (isExpected || stateAt(question, at + 1, lexicon) !== undefined);
  const city = cityAt(question, at, lexicon) ?? (isMisspelt ? misspeltCityAt(question, at, lexicon) : undefined);
  // A city whose name is an ordinary word, such as Range, needs `in`, `near` or its state.
  const isWord = !isExpected && question.phraseAt(at, "word")?.length === city?.length;
  if (city === undefined || (isWord && !city.hasState) || (state !== undefined && state.length > city.length))
    return state;
  const population = city.cities[0]?.population ?? 0;
  const cities = city.cities
    .filter((one) => one.population >= alternativeShareMin * population)
    .map(({ name, zip }): Meaning => ({ attribute: "city", value: name, filters: { postal_code: zip.code } }));
  const others = lexicon.meaningsOf(question.keyOf(at, city.length)).filter(({ attribute }) => attribute !== "state");
  const isLarge = city.hasState || population >= largeCityMin;
  if (!isLarge && (!isExpected || (others.length > 0 && !isNear))) return state;
  const states = state?.length === city.length ? state.meanings : [];
  const places = isNear ? [...cities.slice(0, 1), ...states, ...cities.slice(1)] : [...states, ...cities];
  const { length, correctedFrom } = city;
  return { length, meanings: isExpected ? [...places, ...others] : places, correctedFrom };
}

interface NamedCities {
  readonly length: number;
  readonly cities: readonly City[];
  readonly hasState: boolean;
  readonly correctedFrom?: string | undefined;
}

/** Returns the cities that the most tokens from one on name, with or without a state. */
function cityAt(question: QuestionText, at: number, lexicon: Lexicon): NamedCities | undefined {
  for (let length = Math.min(cityTokensMax, question.tokens.length - at); length > 0; length -= 1) {
    const cities = citiesNamed(question.keyOf(at, length, " "));
    if (cities.length > 0) return withState(question, at, { length, cities, hasState: false }, lexicon);
  }
  return undefined;
}

/** Adds the state after a city to it, if there is such a city in it. */
function withState(question: QuestionText, at: number, city: NamedCities, lexicon: Lexicon): NamedCities {
  const state = stateAt(question, at + city.length, lexicon);
  const cities = city.cities.filter(({ zip }) => zip.state === state?.meanings[0]?.value);
  if (state === undefined || cities.length === 0) return city;
  return { ...city, length: city.length + state.length, cities, hasState: true };
}

/** Returns the large cities that a misspelt word, which is no other name, is nearest to. */
function misspeltCityAt(question: QuestionText, at: number, lexicon: Lexicon): NamedCities | undefined {
  const { key = "", text } = question.tokens[at] ?? {};
  if (lexicon.meaningsOf(key).length > 0 || lexicon.correct(key).length > 0) return undefined;
  const nearest = nearestKeys(key, wordsOfLargeCities());
  const cities = nearest.length === 1 ? citiesNamed(nearest[0] ?? "") : [];
  return cities.length === 0
    ? undefined
    : withState(question, at, { length: 1, cities, hasState: false, correctedFrom: text }, lexicon);
}

function stateAt(question: QuestionText, at: number, lexicon: Lexicon): Named | undefined {
  for (let length = Math.min(stateTokensMax, question.tokens.length - at); length > 0; length -= 1) {
    const meanings = lexicon.meaningsOf(question.keyOf(at, length)).filter(({ attribute }) => attribute === "state");
    if (meanings.length > 0 && (length > 1 || canBeState(question, at, true))) return { length, meanings };
  }
  return undefined;
}

/** Reads a question from its first token to its last. Each token belongs to exactly one part. */
import { boundsAt, countAt, radiusAt, unknownAt } from "./amounts.ts";
import type { Lexicon } from "./lexicon.ts";
import { listingParameters } from "./merge-filters.ts";
import { namedAt } from "./names-and-places.ts";
import { connectors, QuestionText } from "./question.ts";
import { isUnderstood, type Meaning, type Reading, type Understood } from "./reading.ts";

/** A part of a question: its text with its offsets, and what it was read as; undefined for words that need no filter. */
export interface QuestionPart {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly reading: Reading | undefined;
}

/** What the tokens before one say about it. */
interface Context {
  /** The reading right before it; words that need no filter are skipped. */
  readonly previous?: Understood | undefined;
  /** The attribute whose values `or` continues to exclude: `not red or black` excludes both. */
  readonly excluded?: string | undefined;
  /** The make of the names before it. */
  readonly make?: string | undefined;
  /** The word right before it that needs no filter. */
  readonly link?: string | undefined;
  /** The token of a word such as `interior`, which an earlier color belongs to. */
  readonly interiorAt?: number | undefined;
}

/** A VIN or its beginning: at least eight characters, with a digit and a letter. */
const vinPattern = /^(?=.*\d)(?=.*[a-z])(?!\d+kms?$)[a-hj-npr-z0-9]{8,17}$/;

/** A misspelt name has at most this many tokens. */
const misspeltTokensMax = 3;

export class QuestionParser {
  private readonly question: QuestionText;
  private context: Context = {};

  constructor(
    text: string,
    private readonly lexicon: Lexicon,
  ) {
    this.question = new QuestionText(text);
  }

  /** Returns the parts in their order. */
  parse(): readonly QuestionPart[] {
    const parts: QuestionPart[] = [];
    for (let at = 0; at < this.question.tokens.length; ) {
      const reading = this.readingAt(at);
      const length = reading?.length ?? this.ignoredAt(at);
      parts.push({ ...this.question.partOf(at, at + length), reading });
      this.context = this.contextAfter(at, reading);
      at += length;
    }
    return parts;
  }

  /** Returns the number of tokens from one on that need no filter; 0 if it needs one. */
  private ignoredAt(at: number): number {
    const isInterior = at === this.context.interiorAt;
    return this.question.phraseAt(at, isInterior ? "interior" : "ignored")?.length ?? 0;
  }

  /** Returns what the tokens from one on stand for; undefined if they need no filter. */
  private readingAt(at: number): Reading | undefined {
    const { excluded, link } = this.context;
    const found = this.affirmedAt(at);
    if (found === undefined) {
      const negated = this.negatedAt(at);
      if (negated !== undefined) return negated;
      if (this.ignoredAt(at) > 0) return undefined;
      return this.correctedAt(at) ?? { length: 1 };
    }
    if (!isUnderstood(found)) return found;
    if (connectors.has(link ?? "") && found.attribute === excluded) return exclusionOf(found, found.length);
    if (found.attribute !== "exclude_keywords") return found;
    return { length: found.length, reason: `These listings can only be excluded: expected "no" before it.` };
  }

  /** Returns what the tokens stand for if nothing negates them. */
  private affirmedAt(at: number): Reading | undefined {
    const { question, lexicon } = this;
    const { previous, interiorAt } = this.context;
    if (at === interiorAt) return undefined;
    const named = this.namedAt(at);
    const { years, asOf } = lexicon;
    const unknown = unknownAt(question, at, { years });
    if (unknown !== undefined && unknown.length >= (named?.length ?? 0)) return unknown;
    const isAfterDrop = previous?.attribute === "min_price_drops";
    const amount =
      radiusAt(question, at) ?? countAt(question, at) ?? boundsAt(question, at, { years, asOf, isAfterDrop });
    const reading = amount ?? this.interiorColorAt(at) ?? named ?? this.vinAt(at);
    const isOfCounty = isUnderstood(reading) && question.tokens[at + reading.length]?.key === "county";
    return isOfCounty
      ? { length: reading.length + 1, reason: "Counties are not known: expected a ZIP code, a city or a state." }
      : reading;
  }

  /** Returns what tokens name; a model that is a number, such as 2500, is none of another make than the one before it. */
  private namedAt(at: number): Understood | undefined {
    const { previous, make } = this.context;
    const named = namedAt(this.question, at, this.lexicon, previous);
    const isNumber = named?.attribute === "model" && /^\d+$/.test(named.value);
    return isNumber && make !== undefined && named.filters.make !== make ? undefined : named;
  }

  /** Returns the color after `interior`, before it with materials and other colors between them, before a material, or after another one and `on` or `over`. */
  private interiorColorAt(at: number): Understood | undefined {
    const { question } = this;
    const isAfterColor = this.context.previous?.attribute === "base_exterior_color";
    const isOver = isAfterColor && question.tokens[at]?.key === "over";
    const word = isOver ? 1 : (question.phraseAt(at, "interior")?.length ?? 0);
    const before = word === 0 ? 0 : word + (question.phraseAt(at + word, "in")?.length ?? 0);
    const color = this.colorAt(at + before);
    if (color === undefined) return undefined;
    const length = before + color.length;
    const interior = this.interiorAfter(at + length);
    const isOnColor = this.context.link === "on" && isAfterColor;
    const isOfMaterial = question.phraseAt(at + length, "material") !== undefined && !this.isConnector(at + length);
    if (before === 0 && interior === undefined && !isOnColor && !isOfMaterial) return undefined;
    const isNext = before === 0 && interior === at + length;
    const value = color.value;
    return {
      length: length + (isNext ? (question.phraseAt(at + length, "interior")?.length ?? 0) : 0),
      attribute: "base_interior_color",
      value,
      filters: { base_interior_color: value },
    };
  }

  private isConnector(at: number): boolean {
    return connectors.has(this.question.tokens[at]?.key ?? "");
  }

  private colorAt(at: number): Understood | undefined {
    const named = namedAt(this.question, at, this.lexicon);
    return named?.attribute === "base_exterior_color" ? named : undefined;
  }

  /** Returns the token of a word for the interior, if only materials and colors come before it. */
  private interiorAfter(at: number): number | undefined {
    if (this.question.phraseAt(at, "interior") !== undefined) return at;
    const skipped = this.question.phraseAt(at, "material") ?? this.colorAt(at);
    return skipped && this.interiorAfter(at + skipped.length);
  }

  private vinAt(at: number): Understood | undefined {
    const key = this.question.tokens[at]?.key ?? "";
    if (!vinPattern.test(key)) return undefined;
    const value = key.toUpperCase();
    return { length: 1, attribute: "vin", value, filters: { vin_pattern: value.length < 17 ? `${value}*` : value } };
  }

  /** Returns what a negation excludes, with the words that it negates. */
  private negatedAt(start: number): Reading | undefined {
    const { question } = this;
    const not = question.phraseAt(start, "not");
    if (not === undefined) return undefined;
    let at = start + not.length;
    let body = this.affirmedAt(at);
    while (body === undefined && this.ignoredAt(at) > 0) {
      at += this.ignoredAt(at);
      body = this.affirmedAt(at);
    }
    body ??= this.correctedAt(at);
    if (not.value === "place" && !isPlace(body)) return undefined;
    const end = at + (body?.length ?? 1);
    // The place of a radius is negated with it.
    const radius = isUnderstood(body) && body.attribute === "radius" ? body : undefined;
    const place = radius && namedAt(question, end, this.lexicon, radius);
    const length = Math.min(end + (place?.length ?? 0), question.tokens.length) - start;
    return isUnderstood(body) ? exclusionOf(body, length) : { length };
  }

  /** Returns the known name that misspelt words are nearest to. */
  private correctedAt(at: number): Understood | undefined {
    const { question, lexicon } = this;
    for (let length = Math.min(misspeltTokensMax, question.tokens.length - at); length > 0; length -= 1) {
      if (question.phraseAt(at, "word") !== undefined || (length > 1 && !this.areUnknown(at, length))) continue;
      const [first, ...alternatives] = lexicon.correct(question.keyOf(at, length));
      const correctedFrom = question.partOf(at, at + length).text;
      if (first !== undefined) return { length, ...first, alternatives, correctedFrom };
    }
    return undefined;
  }

  private areUnknown(at: number, length: number): boolean {
    return Array.from({ length }, (_, index) => at + index).every(
      (one) => this.affirmedAt(one) === undefined && this.ignoredAt(one) === 0,
    );
  }

  private contextAfter(at: number, reading: Reading | undefined): Context {
    const { previous, excluded, interiorAt, make } = this.context;
    if (reading === undefined) return { previous, excluded, interiorAt, make, link: this.question.tokens[at]?.key };
    const understood = isUnderstood(reading) ? reading : undefined;
    const isInterior = understood?.attribute === "base_interior_color";
    return {
      previous: understood,
      make: understood?.filters.make ?? make,
      excluded: understood?.isExclusion === true ? understood.attribute : undefined,
      interiorAt: isInterior ? this.interiorAfter(at + reading.length) : interiorAt,
    };
  }
}

const isPlace = (reading: Reading | undefined): boolean =>
  isUnderstood(reading) && (reading.attribute === "state" || reading.filters.postal_code !== undefined);

/** Returns a reading that excludes what another one stands for, or why no filter does. */
function exclusionOf(reading: Understood, length: number): Reading {
  const [first, ...alternatives] = [reading, ...(reading.alternatives ?? [])].flatMap(
    (one) => excludedMeaning(one) ?? [],
  );
  if (first === undefined) return { length, reason: `No filter excludes listings by ${reading.attribute}.` };
  return { length, ...first, alternatives, isExclusion: true };
}

function excludedMeaning({ attribute, value, filters }: Meaning): Meaning | undefined {
  const parameter = attribute.startsWith("exclude_") ? attribute : `exclude_${attribute}`;
  const excluded = filters[attribute];
  if (!(parameter in listingParameters) || excluded === undefined) return undefined;
  return { attribute, value, filters: { [parameter]: excluded } };
}

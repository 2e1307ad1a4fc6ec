/** No sentence shows an unknown number, a double space, a wrong plural or an empty mark, regardless of which of its numbers are unknown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { accountVerdict } from "../../../src/web/sentences/account.ts";
import {
  cardSentence,
  carVerdict,
  dealerSentence,
  paceNote,
  priceTimeTitle,
  similarTitle,
} from "../../../src/web/sentences/car.ts";
import { agingNote, agingTitle, lotVerdict, priceAgeTitle, suggestionOf } from "../../../src/web/sentences/lot.ts";
import {
  lossTitle,
  marketVerdict,
  mediansNote,
  paceTitle,
  pricesMovedTitle,
  standingTitle,
} from "../../../src/web/sentences/market.ts";
import {
  accountsVerdict,
  brokenFeedText,
  morningVerdict,
  readTitle,
  revenueVerdict,
  runTitle,
  serviceNote,
  silentTitle,
} from "../../../src/web/sentences/operate.ts";
import type { Judgement, Part, Sentence } from "../../../src/web/sentences/sentence.ts";
import { frontFacts, frontLine, shopVerdict } from "../../../src/web/sentences/shop.ts";
import { spokenSearch } from "../../../src/web/shop/filter-words.ts";
import { extentOf } from "../../support/extent.ts";
import { marked } from "../../support/web/sentences.ts";

const whole = fc.oneof(
  fc.integer({ min: 0, max: 12 }),
  fc.integer({ min: 13, max: 100 }),
  fc.integer({ min: 0, max: 2e9 }),
);
const number = fc.oneof(whole, fc.double({ min: 0, max: 1e6, noNaN: true }));
const maybe = fc.oneof(number, number, fc.constantFrom(null, undefined));
const maybeWhole = fc.option(whole, { freq: 3, nil: null });
const day = fc
  .integer({ min: 0, max: 800 })
  .map((days) => new Date(Date.UTC(2025, 0, 1 + days)).toISOString().slice(0, 10));
const rating = fc.constantFrom("great", "good", "fair", "high", null);
const keywords = fc.option(fc.subarray(["clean_title", "one_owner", "fleet", "branded"]), { nil: null });
const condition = fc.constantFrom("used", "new", "");
const fraction = fc.option(fc.double({ min: -0.9, max: 3, noNaN: true }), { nil: null });
const flag = fc.boolean();

/** Records of the named numbers. */
const recordOf = <Name extends string, Value>(value: fc.Arbitrary<Value>, names: readonly Name[]) =>
  fc
    .array(value, { minLength: names.length, maxLength: names.length })
    .map((values) => Object.fromEntries(names.map((name, index) => [name, values[index]])) as Record<Name, Value>);

const numbers = <Name extends string>(...names: readonly Name[]) => recordOf(maybe, names);
const counts = <Name extends string>(...names: readonly Name[]) => recordOf(whole, names);
const maybeCounts = <Name extends string>(...names: readonly Name[]) => recordOf(maybeWhole, names);

type Said = Judgement | Sentence | string | undefined;

/** A sentence for random input. */
const drawn = <Input>(input: fc.Arbitrary<Input>, say: (input: Input) => Said): fc.Arbitrary<Said> => input.map(say);

const car = fc
  .tuple(
    numbers("price", "market_value", "market_value_low", "market_value_high"),
    fc.record({ value_rating: rating, keywords }),
  )
  .map(([prices, other]) => ({ ...prices, ...other }));

const side = fc
  .tuple(
    numbers("median", "medianBefore", "days", "daysBefore", "supplyDays", "yearLoss"),
    maybeCounts("cars", "sold"),
    fc.constantFrom("RAV4", "Prius", "SUV"),
  )
  .map(([all, counted, name]) => ({ ...all, ...counted, name }));
const sides = fc.array(side, { minLength: 1, maxLength: 2 });
const period = fc.tuple(day, whole, condition, flag).map(([asOf, days, ofCondition, hasPriceBound]) => ({
  asOf,
  from: new Date(Date.parse(asOf) - (1 + (days % 400)) * 86_400_000).toISOString().slice(0, 10),
  condition: ofCondition,
  hasPriceBound,
}));

/** A lot of `cars`, of which at most all are aged or great. */
const lot = fc
  .tuple(
    whole,
    numbers("medianDays", "agedPrice", "allPrice", "supplyDays", "marketSupplyDays"),
    maybeCounts("priceRank", "ageRank", "dealers", "aged", "branded"),
    fraction,
    fc.constantFrom("used", "new"),
    flag,
  )
  .map(([cars, prices, counted, toMarket, ofCondition, isOwn]) => ({
    ...prices,
    ...counted,
    cars,
    toMarket,
    isOwn,
    condition: ofCondition,
    aged: counted.aged === null ? null : Math.min(cars, counted.aged),
  }));

const found = fc
  .tuple(
    whole,
    maybeCounts("great", "good", "cleanTitles", "branded", "used", "new", "changes"),
    numbers("medianPrice", "medianDays"),
    fc.option(fc.constant("Used SUVs"), { nil: undefined }),
    flag,
  )
  .map(([cars, counted, medians, search, isBestFirst]) => ({
    ...counted,
    ...medians,
    cars,
    search,
    isBestFirst,
    great: counted.great === null ? null : Math.min(cars, counted.great),
    good: counted.good === null ? null : Math.min(cars, counted.good),
  }));

const month = fc.tuple(
  day,
  fc.array(whole, { maxLength: 31 }),
  fc.array(whole, { maxLength: 31 }),
  numbers("topCharge", "credits", "promotional", "refunds"),
);

const sentences: readonly fc.Arbitrary<Said>[] = [
  drawn(car, cardSentence),
  drawn(car, suggestionOf),
  drawn(fc.tuple(car, numbers("days", "cutBy"), maybeWhole, day), ([one, days, cuts, asOf]) =>
    carVerdict({ ...one, ...days, cuts, asOf }),
  ),
  drawn(counts("less", "more", "same"), similarTitle),
  drawn(fc.tuple(numbers("days", "change", "supplyDays"), maybeWhole), ([all, cuts]) =>
    [priceTimeTitle({ ...all, cuts }), paceNote({ ...all, cuts }) ?? ""].join(" ").trim(),
  ),
  drawn(fc.tuple(maybeCounts("cars", "rated", "goodOrBetter"), maybe), ([counted, medianDays]) =>
    dealerSentence({ ...counted, medianDays }),
  ),
  drawn(lot, lotVerdict),
  drawn(lot, (one) => `${agingTitle(one)}. ${agingNote(one)} ${priceAgeTitle(one)}`),
  drawn(fc.tuple(sides, period), ([given, over]) => marketVerdict(given, over)),
  drawn(fc.tuple(sides, period, whole), ([given, over, days]) =>
    [
      pricesMovedTitle(given, over),
      paceTitle(given),
      lossTitle(given),
      standingTitle(given, over),
      mediansNote(given, over, { interval: "week", start: over.from, end: over.asOf, days }),
    ].join(" "),
  ),
  drawn(
    fc.tuple(day, counts("expected", "silent", "broken"), maybeCounts("rows", "refused", "cars")),
    ([asOf, all, known]) =>
      morningVerdict({ ...all, ...known, day: asOf, asOf, silent: Math.min(all.silent, all.expected) }),
  ),
  drawn(maybeCounts("vins", "usualVins", "missing", "jumpedPrices", "knownPrices"), (feed) => brokenFeedText(feed)),
  drawn(fc.tuple(fc.array(day), day), ([days, asOf]) =>
    Object.values(
      silentTitle(
        days.map((lastDay) => ({ name: "A", lastDay })),
        asOf,
      ),
    ).join(". "),
  ),
  drawn(fc.tuple(whole, fc.array(whole)), ([cars, before]) => Object.values(readTitle(cars, before)).join(". ")),
  drawn(fc.tuple(counts("freeBytes", "bytes", "running"), numbers("longestMs", "dueInMs")), ([all, times]) =>
    serviceNote({ ...all, ...times }),
  ),
  drawn(month, ([asOf, charges, before, all]) => revenueVerdict({ day: asOf, charges, before, ...all })),
  drawn(month, ([asOf, charges, before]) => runTitle({ day: asOf, charges, before })),
  drawn(counts("accounts", "low", "usedUp"), accountsVerdict),
  drawn(
    fc.tuple(
      counts("balanceMicros", "spentMicros", "creditedMicros"),
      fc.record({ capMicros: fc.option(whole) }),
      maybeCounts("tier", "keys"),
      day,
      fc.constantFrom("active", "low_balance", "exhausted"),
      flag,
    ),
    ([funds, limit, all, today, state, isNew]) =>
      accountVerdict({ ...funds, ...limit, ...all, today, state, isNew, searchMicros: 2000 }),
  ),
  drawn(found, shopVerdict),
  drawn(maybeCounts("min_price", "max_price", "min_year", "max_mileage", "radius"), (bounds) =>
    spokenSearch(
      Object.fromEntries(
        Object.entries({ ...bounds, postal_code: 98_402 }).flatMap(([name, value]) =>
          value === null ? [] : [[name, String(value)]],
        ),
      ),
      { place: "Tacoma, WA" },
    ),
  ),
  drawn(
    fc.tuple(
      maybeCounts("dealers", "rated", "great", "repriced"),
      numbers("usedMedian", "medianDays"),
      whole,
      day,
      flag,
    ),
    ([counted, medians, cars, asOf, isOld]) => ({
      sentence: frontLine({ ...counted, cars }),
      facts: frontFacts({ ...counted, ...medians, cars, day: asOf, isOld }),
    }),
  ),
];

const wrong =
  /undefined|NaN|null|Infinity|–|-0\b|\s\s|^\s|\s$|\s[.,;:]|[.,]{2}|\(\)|\[\w+:\]|<>|(?<![\d.,])(1|[Oo]ne) (cars|days|dealers|files|prices|searches|accounts|decisions|keys|RAV4s|SUVs)\b/;

const isJudgement = (said: Exclude<Said, undefined>): said is Judgement =>
  typeof said === "object" && "sentence" in said;

/** Returns the parts of what is said, and each of its sentences with marks. */
function readSaid(said: Exclude<Said, undefined>): {
  readonly parts: readonly Part[];
  readonly texts: readonly string[];
} {
  const all: readonly Sentence[] = isJudgement(said)
    ? [
        said.sentence,
        ...(said.context === undefined ? [] : [said.context]),
        ...(said.facts ?? []).flatMap(({ value, label }) => [value, label]),
      ]
    : [typeof said === "object" ? said : said === "" ? [] : [said]];
  return { parts: all.flat(), texts: all.map(marked) };
}

test("a sentence is whole for any numbers, known or unknown", () => {
  for (const sentence of sentences)
    fc.assert(
      fc.property(sentence, (said) => {
        if (said === undefined) return;
        const { parts, texts } = readSaid(said);
        for (const text of texts) assert.doesNotMatch(text, wrong);
        for (const part of parts) assert.notEqual(typeof part === "string" ? part : part.text, "", "an empty part");
        if (isJudgement(said)) assert.notEqual(texts[0], "", "an empty verdict");
      }),
      { numRuns: extentOf(150, 5000) },
    );
});

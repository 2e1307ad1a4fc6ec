/** Numbers in the forms of a grammar: each text of a column is read as its form says, or is unknown. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { valuesReader } from "../lakes/read-values.ts";
import type { Scope } from "../scope.ts";
import type { Target } from "./target.ts";

/** A number by its parts. */
interface NumberForm {
  readonly before: string;
  readonly after: string;
  readonly remark: string;
  readonly thousand: "" | "k";
  /** The digits before the decimal sign, in groups. */
  readonly groups: readonly string[];
  readonly groupMark: string;
  readonly decimalSign: "" | "." | ",";
  readonly decimals: string;
  /** Invisible characters and spaces around it. */
  readonly around: string;
}

interface NumberCase {
  readonly field: "price" | "miles";
  readonly currency: "USD" | "EUR";
  readonly isAlone: boolean;
  readonly forms: readonly NumberForm[];
}

const textOf = ({ before, after, remark, thousand, groups, groupMark, decimalSign, decimals, around }: NumberForm) =>
  `${around}${before}${groups.join(groupMark)}${decimalSign}${decimals}${thousand}${after}${remark}${around}`;

/** What each word beside a number says: a currency, the miles of a unit, or nothing that is known. */
const words: Readonly<Record<string, { readonly currency?: readonly string[]; readonly miles?: number }>> = {
  "": { currency: ["USD", "EUR"], miles: 1 },
  $: { currency: ["USD"] },
  US$: { currency: ["USD"] },
  " usd": { currency: ["USD"] },
  "USD ": { currency: ["USD"] },
  "€": { currency: ["EUR"] },
  " EUR": { currency: ["EUR"] },
  "£": { currency: [] },
  " CHF": { currency: [] },
  " mi": { miles: 1 },
  " Miles": { miles: 1 },
  " km": { miles: 1 / 1.609344 },
  KM: { miles: 1 / 1.609344 },
  " quatloos": {},
};

/** Returns a form in which three decimals after the mark of the groups are one of them. */
const withoutDoubt = (form: NumberForm): NumberForm =>
  form.groups.length > 1 && form.groupMark === form.decimalSign && form.decimals.length === 3
    ? { ...form, groups: [...form.groups, form.decimals], decimalSign: "", decimals: "" }
    : form;

const isSpace = (mark: string): boolean => !",.".includes(mark);

/** The decimal sign that a form shows; undefined if it has a single one that could group thousands, or none. */
function shownSign({ groups, groupMark, decimalSign, decimals }: NumberForm): "," | "." | undefined {
  const other = { ",": ".", ".": "," } as const;
  const isGrouped = groups.length > 1 && !isSpace(groupMark);
  if (decimalSign === "") {
    const couldBeDecimal = groups.length === 2;
    return isGrouped && !couldBeDecimal ? other[groupMark as "," | "."] : undefined;
  }
  if (isGrouped && groupMark === decimalSign) return undefined;
  const couldGroup = groups.length === 1 && /^[1-9]\d{0,2}$/.test(groups[0] ?? "") && decimals.length === 3;
  return couldGroup ? undefined : decimalSign;
}

/** Returns the number of a form as its parts say; undefined if they leave it open or contradict each other. */
function amountOf(form: NumberForm, hasUnit: boolean, isCommaDecimal: boolean): number | undefined {
  const { groups, groupMark, decimalSign, decimals } = form;
  const whole = Number(groups.join(""));
  const exact = Number(`${groups.join("")}.${decimals}`);
  const isGrouped = groups.length > 1;
  if (decimalSign === "") {
    if (!isGrouped || isSpace(groupMark) || groups.length > 2) return whole;
    // One point or comma before three digits.
    if (groupMark === ",") return isCommaDecimal ? Number(groups.join(".")) : whole;
    return hasUnit || isCommaDecimal ? whole : undefined;
  }
  if (isGrouped && groupMark === decimalSign) return undefined;
  if (isGrouped) return exact;
  const couldGroup = /^[1-9]\d{0,2}$/.test(groups[0] ?? "") && decimals.length === 3;
  if (decimalSign === ".") {
    if (couldGroup) return hasUnit || isCommaDecimal ? Number(`${groups[0]}${decimals}`) : undefined;
    return isCommaDecimal ? undefined : exact;
  }
  if (couldGroup) return isCommaDecimal ? exact : Number(`${groups[0]}${decimals}`);
  return hasUnit || isCommaDecimal ? exact : undefined;
}

const bounds = { price: [1, 10_000_000], miles: [0, 1_000_000] } as const;

/** Returns what each text of a case becomes: a whole number in the unit of its field, or null. */
function expectedOf({ field, currency, isAlone, forms: drawn }: NumberCase): readonly (number | null)[] {
  const forms = drawn.map(withoutDoubt);
  const shown = forms.map(shownSign);
  const commas = shown.filter((sign) => sign === ",").length;
  const hasPoints = shown.includes(".");
  return forms.map((form, index) => {
    const beside = [form.before, form.after].filter((word) => word !== "");
    const meanings = beside.map((word) => words[word] ?? {});
    const isMoney = field === "price";
    if (isMoney && meanings.some((meaning) => !meaning.currency?.includes(currency))) return null;
    if (!isMoney && (meanings.length > 1 || meanings.some(({ miles }) => miles === undefined))) return null;
    const others = commas - (shown[index] === "," ? 1 : 0);
    const plain = amountOf(form, !isMoney && beside.length > 0, false);
    // What a text leaves open is decided by the others of its file.
    const amount = plain ?? (!isAlone && !hasPoints && others > 0 ? amountOf(form, false, true) : undefined);
    if (amount === undefined) return null;
    const value = Math.round(amount * (form.thousand === "" ? 1 : 1000) * (isMoney ? 1 : (meanings[0]?.miles ?? 1)));
    return value < bounds[field][0] || value > bounds[field][1] ? null : value;
  });
}

const digits = (from: number, to: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: from, maxLength: to }).map((each) => each.join(""));
const first = fc.tuple(fc.integer({ min: 1, max: 9 }), digits(0, 2)).map(([head, rest]) => `${head}${rest}`);
const groups = fc.oneof(
  first.map((one) => [one]),
  fc.tuple(fc.integer({ min: 1, max: 9 }), digits(3, 5)).map(([head, rest]) => [`${head}${rest}`]),
  fc.tuple(first, fc.array(digits(3, 3), { minLength: 1, maxLength: 2 })).map(([head, rest]) => [head, ...rest]),
);
const fraction = fc.oneof(
  fc.constant({ decimalSign: "" as const, decimals: "" }),
  fc.record({ decimalSign: fc.constantFrom("." as const, "," as const), decimals: digits(1, 3) }),
);
/** The words before and after numbers of each field. */
const wordsBy = {
  price: { before: ["$", "US$", "USD ", "€", "£"], after: [" usd", " EUR", " CHF", "€"] },
  miles: { before: [], after: [" mi", " Miles", " km", "KM", " quatloos", " usd"] },
} as const;

/** Returns the forms of a field: mostly with one word at most, and single groups as often as several. */
const formOf = (field: NumberCase["field"]): fc.Arbitrary<NumberForm> =>
  fc
    .tuple(
      fc.record({
        before: fc.constantFrom("", "", "", ...wordsBy[field].before),
        after: fc.constantFrom("", "", "", ...wordsBy[field].after),
        remark: fc.constantFrom("", "", "", "*", " + tax"),
        thousand: fc.constantFrom("" as const, "" as const, "" as const, "k" as const),
        groups,
        groupMark: fc.constantFrom(",", ".", ",", ".", " ", "\u00a0", "\u202f", "'", "’"),
        around: fc.constantFrom("", "", " ", "\u200b", "\ufeff", "\u00a0"),
      }),
      fraction,
    )
    .map(([parts, decimal]) => ({ ...parts, ...decimal }))
    // A letter after the k makes another word of it.
    .filter(({ thousand, after }) => thousand === "" || /^(\W|$)/.test(after));

/** Returns the target. A case is refused if all of its texts are unknown. */
export async function numberTarget(scope: Scope): Promise<Target<NumberCase>> {
  const read = await valuesReader(scope);
  return {
    name: "numbers",
    cases: fc.constantFrom("price" as const, "miles" as const).chain((field) =>
      fc.record({
        field: fc.constant(field),
        currency: fc.constantFrom("USD" as const, "USD" as const, "EUR" as const),
        isAlone: fc.boolean(),
        forms: fc.array(formOf(field), { minLength: 1, maxLength: 12 }),
      }),
    ),
    async check(tried) {
      const texts = tried.forms.map(textOf);
      const found = await read(tried.field, texts, tried);
      const expected = expectedOf(tried);
      assert.deepEqual(
        found.map(({ value }, index) => [texts[index], value]),
        expected.map((value, index) => [texts[index], value]),
      );
      for (const { value, reason } of found) assert.equal(value === null, reason !== null, "a reason for each unknown");
      return expected.every((value) => value === null) ? "refused" : "accepted";
    },
  };
}

/**
 * Reads numbers as others write them: `$25,995`, `12.490,00 EUR`, `12.345 km`, `52k`.
 *
 * A sign groups thousands only where exactly three digits follow it each time. Which of point and comma is decimal follows from the text if it has
 * both, repeats one, or groups by spaces; else a point is, except before three digits. What a text leaves open is decided by the other values of its
 * column, or is unknown. Another currency and an unknown unit are refused by name.
 */
import { join, literal, type Sql, sql } from "../../db/sql.ts";

/** What a number counts: in the lake's currency, in miles, or without a unit. */
export type Quantity = "money" | "distance" | "count";

export interface NumberForm {
  readonly quantity: Quantity;
  /** ISO 4217 code of the lake's currency. */
  readonly currency: string;
}

/** Miles in one of each unit of distance. */
const distances = {
  ...unitsOf("mi mi. mile miles smi", 1),
  ...unitsOf("km km. kms kmt kilometer kilometers kilometre kilometres", 1 / 1.609344),
};

const counts = unitsOf("cyl cyl. cylinder cylinders", 1);

function unitsOf(names: string, factor: number): Readonly<Record<string, number>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, factor]));
}

/** Signs and names of currencies, beside their codes. `$` is any dollar. */
const currencySigns: Readonly<Record<string, string>> = {
  us$: "USD",
  dollars: "USD",
  ca$: "CAD",
  c$: "CAD",
  au$: "AUD",
  a$: "AUD",
  nz$: "NZD",
  mx$: "MXN",
  r$: "BRL",
  "€": "EUR",
  euro: "EUR",
  euros: "EUR",
  "£": "GBP",
  "¥": "JPY",
  "₽": "RUB",
  "₴": "UAH",
  "₹": "INR",
  zł: "PLN",
};
const dollarCurrencies: readonly string[] = ["USD", "CAD", "AUD", "NZD", "MXN"];
const currencyCodes = ` ${Intl.supportedValuesOf("currency").join(" ").toLowerCase()} `;

/** White space of any width, and apostrophes. */
const groupingMarks = "[\\s\\x{00A0}\\x{202F}\\x{2009}'\\x{2019}]";
const words = "[^0-9.,+-]*?";
const digits = `[0-9](?:(?:[.,]|${groupingMarks}+)?[0-9])*|[.,][0-9]+`;
const afterwards = "(?:\\*+|\\+\\s*(?i:tax|taxes|fees|t\\s*&\\s*l|ttl)\\.?)?";
const numberPattern = `^\\s*(${words})\\s*([-+]?)\\s*(${words})\\s*(${digits})(?:[.,]-?)?\\s*((?:[kK]\\b)?)(?:\\s*([^0-9*+,\\s-][^0-9*+]*?))?\\s*${afterwards}\\s*$`;
const groups = ["before", "minus", "inner", "digits", "thousand", "after"];

/** The reason of a text that has either sign once, such as `20000,00` or `15.990`, and nothing that says which is decimal. */
export const ambiguousSign =
  "point or comma could be decimal: expected other values that show it, or number.decimal in the mapping";

/** Returns `use`, in which `name` stands for `value`, computed once. */
export const bound = (value: Sql, name: Sql, use: Sql): Sql =>
  sql`list_transform([${value}], lambda ${name}: ${use})[1]`;

const matches = (text: Sql, pattern: string): Sql => sql`regexp_full_match(${text}, ${literal(pattern)})`;

/**
 * Returns the number of a text in the unit of its field, as a struct: `amount`, a DOUBLE, null if there is none; `problem`, why there is none; `sign`, the
 * decimal sign that the text shows. `isCommaDecimal`: the other values of the column show it.
 */
export function readNumber(text: Sql, form: NumberForm, isCommaDecimal = false): Sql {
  const part = sql`part`;
  const grouped = sql`regexp_replace(part.digits, ${literal(`${groupingMarks}+`)}, '_', 'g')`;
  const units = sql`list_filter([lower(trim(part."before")), lower(trim(part."inner")), lower(trim(part."after"))], lambda word: word <> '')`;
  const isDistance = form.quantity === "distance" ? sql`len(units) > 0` : sql`false`;
  const plain = plainDigits(sql`grouped`, isDistance, isCommaDecimal);
  const amount = sql`TRY_CAST(plain AS DOUBLE) * if(part.minus = '-', -1, 1) * if(part.thousand = '', 1, 1000) * ${factorOf(sql`units`, form)}`;
  const problem = sql`CASE WHEN part.digits = '' THEN 'not a whole number'
    WHEN unit_problem IS NOT NULL THEN unit_problem
    WHEN plain IS NULL THEN if(${matches(sql`grouped`, "[0-9]*[.,][0-9]+")}, ${literal(ambiguousSign)}, 'not a whole number') END`;
  const result = sql`{'amount': ${amount}, 'problem': ${problem}, 'sign': ${shownSign(sql`grouped`)}}`;
  const read = bound(
    sql`regexp_extract(${text}, ${literal(numberPattern)}, [${join(groups.map((name) => literal(name)))}])`,
    part,
    bound(
      grouped,
      sql`grouped`,
      bound(
        units,
        sql`units`,
        bound(unitProblem(sql`units`, form), sql`unit_problem`, bound(plain, sql`plain`, result)),
      ),
    ),
  );
  const usual = dollarCurrencies.includes(form.currency) && form.quantity === "money" ? "\\$?" : "";
  const isUsual = matches(text, `${usual}[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\\.[0-9]{2})?`);
  return sql`CASE WHEN ${text} IS NULL THEN NULL
    WHEN ${matches(text, "[0-9]{1,15}")}
      THEN {'amount': TRY_CAST(${text} AS DOUBLE), 'problem': NULL::VARCHAR, 'sign': NULL::VARCHAR}
    WHEN ${isCommaDecimal ? sql`false` : isUsual}
      THEN {'amount': TRY_CAST(replace(ltrim(${text}, '$'), ',', '') AS DOUBLE), 'problem': NULL, 'sign': if(contains(${text}, '.') OR ${text} LIKE '%,%,%', '.', NULL)}
    ELSE ${read} END`;
}

/** Returns the digits of a number with a decimal point, without those marks that group thousands; null if it does not follow which is which. */
function plainDigits(grouped: Sql, isDistance: Sql, isCommaDecimal: boolean): Sql {
  const withComma = isCommaDecimal ? sql`true` : isDistance;
  const thousands = "[1-9][0-9]{0,2}";
  const pointed = sql`replace(${grouped}, ',', '.')`;
  const whole = sql`regexp_replace(${grouped}, '[.,_]', '', 'g')`;
  return sql`CASE
    WHEN ${matches(grouped, `[0-9]+|${thousands}(?:_[0-9]{3})+|${thousands}(?:,[0-9]{3}){2,}|${thousands}(?:\\.[0-9]{3}){2,}`)} THEN ${whole}
    WHEN ${matches(grouped, `${thousands}(?:_[0-9]{3})+[.,][0-9]+`)} THEN replace(${pointed}, '_', '')
    WHEN ${matches(grouped, `${thousands}(?:,[0-9]{3})+\\.[0-9]+`)} THEN replace(${grouped}, ',', '')
    WHEN ${matches(grouped, `${thousands}(?:\\.[0-9]{3})+,[0-9]+`)} THEN replace(replace(${grouped}, '.', ''), ',', '.')
    WHEN ${matches(grouped, `${thousands},[0-9]{3}`)} THEN ${isCommaDecimal ? sql`NULL` : whole}
    WHEN ${matches(grouped, `${thousands}\\.[0-9]{3}`)} THEN CASE WHEN ${withComma} THEN ${whole} END
    WHEN ${matches(grouped, "[0-9]*\\.[0-9]+")} THEN ${isCommaDecimal ? sql`NULL` : grouped}
    WHEN ${matches(grouped, "[0-9]*,[0-9]+")} THEN CASE WHEN ${withComma} THEN ${pointed} END END`;
}

/** Returns the decimal sign that digits show: the last of both, else that which groups no thousands. */
const shownSign = (grouped: Sql): Sql => sql`CASE
  WHEN ${matches(grouped, "[0-9]+|[1-9][0-9]{0,2}[.,][0-9]{3}")} THEN NULL
  WHEN ${matches(grouped, "[^,]*,[0-9]+|[0-9]+(?:\\.[0-9]{3}){2,}")} THEN ','
  WHEN ${matches(grouped, "[^.]*\\.[0-9]+|[0-9]+(?:,[0-9]{3}){2,}")} THEN '.' END`;

/** Returns what a number is multiplied by to be in the unit of its field; null for a unit of another kind. */
function factorOf(units: Sql, { quantity }: NumberForm): Sql {
  if (quantity === "money") return sql`1`;
  const known = Object.entries(quantity === "distance" ? distances : counts);
  const position = sql`list_position(string_split(${literal(known.map(([unit]) => unit).join(" "))}, ' '), ${units}[1])`;
  const factors = sql`string_split(${literal(known.map(([, factor]) => factor).join(" "))}, ' ')`;
  return sql`CASE len(${units}) WHEN 0 THEN 1 WHEN 1 THEN ${factors}[${position}]::DOUBLE END`;
}

/** Returns which of the words beside an amount of money is not the lake's currency; null if none is. */
function foreignCurrency(units: Sql, currency: string): Sql {
  const signs = Object.entries(currencySigns).flatMap(([sign, code]) => (code === currency ? [sign] : []));
  const own = [currency.toLowerCase(), ...signs, ...(dollarCurrencies.includes(currency) ? ["$"] : [])];
  return sql`list_filter(${units}, lambda word: NOT list_contains(string_split(${literal(own.join(" "))}, ' '), word))[1]`;
}

/** Returns why the words beside a number are no unit of its field; null if they are. */
function unitProblem(units: Sql, { quantity, currency }: NumberForm): Sql {
  const other = quantity === "distance" ? "unknown unit" : "not a whole number";
  if (quantity !== "money") return sql`if(${factorOf(units, { quantity, currency })} IS NULL, ${literal(other)}, NULL)`;
  const signs = Object.entries({ ...currencySigns, $: "$" });
  const foreign = sql`foreign_word`;
  const signPosition = sql`list_position(string_split(${literal(signs.map(([sign]) => sign).join(" "))}, ' '), ${foreign})`;
  const named = sql`string_split(${literal(signs.map(([, code]) => code).join(" "))}, ' ')[${signPosition}]`;
  const isCode = sql`contains(${literal(currencyCodes)}, ' ' || ${foreign} || ' ')`;
  const name = sql`coalesce(${named}, if(${isCode}, upper(${foreign}), NULL))`;
  return bound(
    foreignCurrency(units, currency),
    foreign,
    sql`if(${foreign} IS NULL, NULL, coalesce('in ' || ${name} || ${literal(`: expected ${currency}`)}, 'unknown unit'))`,
  );
}

/** Vehicle identification numbers (ISO 3779; check digit as in 49 CFR 565.15). */
import { integerLiteral, join, type Sql, sql } from "../../db/sql.ts";

/** What each character counts, from `0` to `Z` in the order of their codes; those that no VIN has count nothing. */
const values = [..."0123456789-------12345678-12345-7-923456789"].map((sign) =>
  integerLiteral(sign === "-" ? 0 : Number(sign)),
);
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** The check digit that belongs into the ninth place of a VIN, whatever stands there. */
export function checkDigitOf(vin: Sql): Sql {
  const products = weights.map((weight, index) => {
    const code = sql`ascii(substr(${vin}, ${integerLiteral(index + 1)}, 1))`;
    return sql`[${join(values)}][${code} - 47] * ${integerLiteral(weight)}`;
  });
  return sql`substr('0123456789X', ((${join(products, sql` + `)}) % 11 + 1)::INTEGER, 1)`;
}

/** Whether a usable VIN has its check digit. That is a rule of the United States, so a failure only warns. */
export function hasValidCheckDigit(vin: Sql): Sql {
  return sql`(${checkDigitOf(vin)} = substr(${vin}, 9, 1))`;
}

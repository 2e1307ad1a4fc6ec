/** Vehicle identification numbers (ISO 3779; check digit as in 49 CFR 565.15). */
import { integerLiteral, join, type Sql, sql } from "../../db/sql.ts";

/** Transliteration values of the characters from `0` to `Z` in code order. Characters that are invalid in a VIN count 0. */
const transliteration = [..."0123456789-------12345678-12345-7-923456789"].map((value) =>
  integerLiteral(value === "-" ? 0 : Number(value)),
);
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** Returns the check digit of a VIN, computed from the other 16 characters. It belongs at position 9. */
export function checkDigitOf(vin: Sql): Sql {
  const products = weights.map((weight, index) => {
    const code = sql`ascii(substr(${vin}, ${integerLiteral(index + 1)}, 1))`;
    return sql`[${join(transliteration)}][${code} - 47] * ${integerLiteral(weight)}`;
  });
  return sql`substr('0123456789X', ((${join(products, sql` + `)}) % 11 + 1)::INTEGER, 1)`;
}

/** A condition: a well-formed VIN has the correct check digit. The rule applies only in North America, so a mismatch is only noted. */
export function hasValidCheckDigit(vin: Sql): Sql {
  return sql`(${checkDigitOf(vin)} = substr(${vin}, 9, 1))`;
}

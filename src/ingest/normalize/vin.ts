/** Vehicle identification numbers (ISO 3779; check digit as in 49 CFR 565.15). */
import { integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";

/** The letters of a VIN and the digits that they count as. */
const [letters, digits] = ["ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789"];
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** Returns the check digit of a well-formed VIN, computed from the other 16 characters. It belongs at position 9. */
export function checkDigitOf(vin: Sql): Sql {
  const products = weights.map(
    (weight, index) => sql`(ascii(substr(digits, ${integerLiteral(index + 1)}, 1)) - 48) * ${integerLiteral(weight)}`,
  );
  return sql`list_transform([translate(${vin}, ${literal(letters)}, ${literal(digits)})],
    lambda digits: substr('0123456789X', ((${join(products, sql` + `)}) % 11 + 1)::INTEGER, 1))[1]`;
}

/** A condition: a well-formed VIN has the correct check digit. The rule applies only in North America, so a mismatch is only noted. */
export function hasValidCheckDigit(vin: Sql): Sql {
  return sql`(${checkDigitOf(vin)} = substr(${vin}, 9, 1))`;
}

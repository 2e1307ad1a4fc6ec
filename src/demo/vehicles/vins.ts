/** Vehicle identification numbers (49 CFR 565): maker and plant from the facts, check digit and year code by rule, no two alike. */
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { checkDigitOf } from "../../ingest/normalize/vin.ts";

const letters = "ABCDEFGHJKLMNPRSTUVWXYZ";
const characters = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
/** Years have these codes in turn, 2010 the first, and again after thirty. */
const yearCodes = "ABCDEFGHJKLMNPRSTVWXY123456789";
/** Spreads serial numbers: it has no divisor in common with a million. */
const stride = 617_293;

const at = (text: string, index: Sql): Sql => sql`substr(${text}, 1 + (${index})::INTEGER, 1)`;
const number = (value: number): Sql => integerLiteral(value);

/** A VIN with its check digit. */
export const withCheckDigit = (unchecked: Sql): Sql =>
  sql`(left(${unchecked}, 8) || ${checkDigitOf(unchecked)} || right(${unchecked}, 8))`;

/**
 * The VIN of a car with 0 for its check digit, from its model, engine and year and from the `plant` that built it. The seventh
 * place is a letter, as it is for cars after 2009; with the sixth it carries what the six digits of the serial number cannot hold
 * of the car's number, so that cars of one model, year and plant never share one.
 */
export function uncheckedVin(car: Sql): Sql {
  const head = sql`hash(make, model, engine)`;
  const millions = sql`(${car} // 1000000)`;
  const serial = sql`lpad(((${car} * ${number(stride)} + 271828) % 1000000)::VARCHAR, 6, '0')`;
  return sql`concat(left(plant.head, 3), ${at(characters, sql`hash(make, model) % 33`)}, ${at(characters, sql`hash(model, make) % 33`)},
    ${at(characters, sql`(${head} + ${millions} // 23) % 33`)}, ${at(letters, sql`(${head} + ${millions}) % 23`)}, ${at(characters, sql`hash(engine) % 33`)},
    '0', ${at(yearCodes, sql`("year" - 2010) % 30`)}, substr(plant.head, 4, 1), ${serial})`;
}

/** Creates unique, valid VINs (49 CFR 565): maker and plant from reference data, year code and check digit by the standard. */
import { integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { checkDigitOf } from "../../listing/vins.ts";

const letters = "ABCDEFGHJKLMNPRSTUVWXYZ";
const characters = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
/** Model year codes, from 2010 on. They repeat every 30 years. */
const yearCodes = "ABCDEFGHJKLMNPRSTVWXY123456789";
/** Spreads serial numbers over the range. Coprime to one million. */
const serialStride = 617_293;

const characterAt = (text: string, index: Sql): Sql => sql`substr(${text}, 1 + (${index})::INTEGER, 1)`;
const number = (value: number): Sql => integerLiteral(value);

/** Inserts the check digit at position 9. */
export const withCheckDigit = (unchecked: Sql): Sql =>
  sql`(left(${unchecked}, 8) || ${checkDigitOf(unchecked)} || right(${unchecked}, 8))`;

/**
 * Returns a car's VIN with 0 as check digit, from its model, engine and year and its `plant`. Position 7 is a letter, as for all cars since
 * 2010. Positions 6 and 7 also encode the millions of the car's number, which the six-digit serial number cannot hold, so that no two cars
 * share a VIN.
 */
export function uncheckedVin(car: Sql): Sql {
  const head = sql`hash(make, model, engine)`;
  const millions = sql`(${car} // 1000000)`;
  const serial = sql`lpad(((${car} * ${number(serialStride)} + 271828) % 1000000)::VARCHAR, 6, '0')`;
  return sql`concat(left(plant.head, 3), ${characterAt(characters, sql`hash(make, model) % 33`)}, ${characterAt(characters, sql`hash(model, make) % 33`)},
    ${characterAt(characters, sql`(${head} + ${millions} // 23) % 33`)}, ${characterAt(letters, sql`(${head} + ${millions}) % 23`)}, ${characterAt(characters, sql`hash(engine) % 33`)},
    '0', ${characterAt(yearCodes, sql`("year" - 2010) % 30`)}, substr(plant.head, 4, 1), ${serial})`;
}

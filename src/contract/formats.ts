/** String formats of our schemas beyond those of JSON Schema, and the length of a string as JSON Schema counts it. */
import { isDay } from "../base/day.ts";

/** Formats that parameters and files use, by name. A validator that needs another one is not generated. */
export const formats: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  date: isDay,
  // A day, or a time with a zone, that the calendar has.
  "day-or-time": (text) => isDay(text.slice(0, 10)) && (text.length === 10 || !Number.isNaN(Date.parse(text))),
  // ajv-formats also accepts `urn:uuid:...`, which is no id of a dealer.
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
};

/** Counts Unicode code points, as `minLength` and `maxLength` do; a lone surrogate counts as one. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

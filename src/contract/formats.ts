/** Custom string formats of the schemas, and string length as JSON Schema counts it. Used by the generated validators. */
import { epochMs, isDay } from "../base/day.ts";

/** Formats by name. Generating a validator that needs another format fails. */
export const formats: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  date: isDay,
  // A date or a time that exists in the calendar, in any form of ISO 8601.
  "iso-8601": (text) => !Number.isNaN(epochMs(text)),
  uri: (text) => /^[!-~]+$/.test(text) && URL.canParse(text),
  // Stricter than ajv-formats, which also accepts `urn:uuid:...`.
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
};

/** Returns the number of Unicode code points, as `minLength` and `maxLength` count; a lone surrogate counts as one. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Markers of an unknown value, such as `N/A`: texts that a feed writes where it has no value. The list is in `schemas/feed.json`. */
import { any, type Sql, sql } from "../../db/sql.ts";
import { type FeedField, isTextList, unknownMarkers } from "../feed/feed-schema.ts";

const wordlessMarkers = unknownMarkers.filter((marker) => !/\p{Letter}/u.test(marker));

/** Returns the markers of a field; none if its texts are parsed, because a marker is no number, time, URL or word of a vocabulary. */
export function markersOf(field: FeedField | undefined): readonly string[] {
  const texts = isTextList(field) ? field?.items : field;
  if (texts === undefined || "$ref" in texts || texts.type !== "string") return [];
  if (texts.enum !== undefined || texts.format !== undefined || texts.pattern !== undefined) return [];
  return field?.["x-words-are-values"] ? wordlessMarkers : unknownMarkers;
}

/** A condition: a trimmed text is one of the markers, in any case. Null for null. Tests the length first, which is cheaper. */
export function isMarker(text: Sql, markers: readonly string[]): Sql {
  const bytesMax = Math.max(0, ...markers.map((marker) => Buffer.byteLength(marker)));
  return sql`(strlen(${text}) <= ${bytesMax} AND list_contains(${markers}, lower(${text})))`;
}

/** Characters that are trimmed: ASCII white space and the no-break space. */
const whiteSpace = " \t\r\n\u00a0";

/**
 * Trims a text; null if it is blank or a marker. Testing the first and last character before trimming is six times as fast: the engine's
 * `trim` builds a character set for every value.
 */
export function knownText(text: Sql, markers: readonly string[]): Sql {
  const endsBlank = any([...whiteSpace].map((character) => sql`suffix(${text}, ${character})`));
  const known = (trimmed: Sql): Sql =>
    markers.length === 0 ? trimmed : sql`CASE WHEN ${isMarker(trimmed, markers)} THEN NULL ELSE ${trimmed} END`;
  return sql`CASE WHEN ${text} BETWEEN '!' AND '~' AND NOT ${endsBlank} THEN ${known(text)}
    ELSE ${known(sql`nullif(trim(${text}, ${whiteSpace}), '')`)} END`;
}

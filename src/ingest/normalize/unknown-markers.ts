/** Markers of an unknown value, such as `N/A`: texts that a feed writes where it has no value. The list is in `schemas/feed.json`. */
import { type Sql, sql } from "../../db/sql.ts";
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

/** Counts the events of listings by day in search indexes. A listing counts with its last observed values. */

import { epochDay } from "../../../base/day.ts";
import { forEachInTurns } from "../../../base/turns.ts";
import type { Engine } from "../../../db/session-pool.ts";
import { ident, integerLiteral, type Sql, sql } from "../../../db/sql.ts";
import type { EventCount, EventRequest, ListingEvent } from "../../../listing/source.ts";
import { none } from "../columns.ts";
import { fromMatches, idOf, withTokens } from "../conditions.ts";
import { isSold, type Segment, type SegmentRows } from "../segment.ts";
import { between, type Test } from "../tests.ts";

/** The column of an event's day, and the tests of listings that can have had it. */
const eventDays: Readonly<Record<ListingEvent, { readonly column: string; readonly tests: readonly Test[] }>> = {
  new_listings: { column: "listed_on", tests: [] },
  sold: { column: "sold_on_record", tests: [isSold] },
  price_drops: { column: "dropped_on", tests: [] },
};

/** The first and the last day of all windows, as days since 1970. */
type Span = readonly [first: number, last: number];

/** Returns `LakeVersion.countEvents`. */
export async function countEvents(
  segments: readonly Segment[],
  engine: Engine,
  request: EventRequest,
): Promise<readonly EventCount[]> {
  const { windows } = request;
  const span: Span = [
    Math.min(...windows.map(({ start }) => epochDay(start))),
    Math.max(...windows.map(({ end }) => epochDay(end))),
  ];
  const events = [...new Set(windows.map(({ event }) => event))];
  const counted = await Promise.all(events.map((event) => countDaily(segments, engine, request, event, span)));
  const days = new Map(events.map((event, index) => [event, counted[index]]));
  const found: EventCount[] = [];
  await forEachInTurns(windows.entries(), ([window, { event, start, end }]) => {
    for (const [key, counts] of days.get(event) ?? []) {
      const inWindow = counts.subarray(epochDay(start) - span[0], epochDay(end) - span[0] + 1);
      const count = inWindow.reduce((sum, one) => sum + one, 0);
      if (count > 0) found.push({ window, key, count });
    }
  });
  return found;
}

/** Returns the number of events of a kind on each day of a span, by the key of the value; by an empty one without an attribute. */
async function countDaily(
  segments: readonly Segment[],
  engine: Engine,
  { filters, attribute, keys }: EventRequest,
  event: ListingEvent,
  [first, last]: Span,
): Promise<ReadonlyMap<string, Int32Array>> {
  const { column, tests } = eventDays[event];
  const isDrop = event === "price_drops";
  const wanted = attribute === undefined ? [""] : keys;
  const counts = new Map(wanted.map((key) => [key, new Int32Array(last - first + 1)]));
  const countIn = async (segment: Segment): Promise<void> => {
    const rows = segment.newest(isDrop ? tests : [...tests, between(column, first, last)]);
    const selected = isDrop ? sql`position` : sql`${ident(column)} AS "day"`;
    const found = sql`SELECT ${idOf(attribute)} AS id, ${selected} ${fromMatches(rows, filters)}`;
    const events = withTokens(isDrop ? dropsOf(found, rows, [first, last]) : found, attribute, rows);
    const grouped = sql`SELECT id, "day", count(*)::INTEGER AS events FROM (${events}) GROUP BY id, "day"`;
    await forEachInTurns(await engine.vectors(grouped), ([ids = none, days = none, numbers = none]) => {
      for (let at = 0; at < ids.length; at += 1) {
        const ofKey = counts.get(segment.dictionary.valueOf(ids[at] as number).toLowerCase());
        if (ofKey === undefined) continue;
        const day = (days[at] as number) - first;
        ofKey[day] = (ofKey[day] as number) + (numbers[at] as number);
      }
    });
  };
  await Promise.all(segments.map(countIn));
  return counts;
}

const dropsOf = (listings: Sql, { segment }: SegmentRows, [first, last]: Span): Sql => sql`
  SELECT id, dropped_on AS "day" FROM (${listings}) JOIN ${ident(segment.catalog, "price_drops")} USING (position)
  WHERE  dropped_on BETWEEN ${integerLiteral(first)} AND ${integerLiteral(last)}`;

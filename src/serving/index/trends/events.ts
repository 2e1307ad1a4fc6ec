/** Counts the events of listings by day in search indexes. A listing counts with its last observed values. */

import { epochDay } from "../../../base/day.ts";
import { forEachInTurns } from "../../../base/turns.ts";
import type { Engine } from "../../../db/session-pool.ts";
import { ident, integerLiteral, type Sql, sql } from "../../../db/sql.ts";
import type { EventCount, EventRequest, EventWindow, ListingEvent } from "../../../listing/source.ts";
import { unknownId } from "../build.ts";
import { none } from "../columns.ts";
import { fromMatches, idOf, withTokens } from "../conditions.ts";
import type { Dictionary } from "../dictionary.ts";
import { isSold, type Segment, type SegmentRows } from "../segment.ts";
import { between, type Test } from "../tests.ts";

/** The column of an event's day, and the tests of listings that can have had it. */
const eventDays: Readonly<Record<ListingEvent, { readonly column: string; readonly tests: readonly Test[] }>> = {
  new_listings: { column: "listed_on", tests: [] },
  sold: { column: "sold_on_record", tests: [isSold] },
  price_drops: { column: "dropped_on", tests: [] },
};

/** Returns `LakeVersion.countEvents`. */
export async function countEvents(
  segments: readonly Segment[],
  engine: Engine,
  request: EventRequest,
): Promise<readonly EventCount[]> {
  const { windows } = request;
  const events = [...new Set(windows.map(({ event }) => event))];
  const days = new Map(
    await Promise.all(
      events.map(async (event) => {
        const counts = new DailyCounts(spanOf(windows.filter((window) => window.event === event)), request);
        await Promise.all(segments.map((segment) => countIn(segment, engine, event, counts)));
        return [event, counts] as const;
      }),
    ),
  );
  const found: EventCount[] = [];
  await forEachInTurns(windows.entries(), ([window, { event, start, end }]) => {
    for (const [key, count] of days.get(event)?.between(start, end) ?? []) found.push({ window, key, count });
  });
  return found;
}

/** Returns the smallest range of days that contains all windows. */
function spanOf(windows: readonly EventWindow[]): readonly [first: number, last: number] {
  return [
    Math.min(...windows.map(({ start }) => epochDay(start))),
    Math.max(...windows.map(({ end }) => epochDay(end))),
  ];
}

async function countIn(segment: Segment, engine: Engine, event: ListingEvent, counts: DailyCounts): Promise<void> {
  const { column, tests } = eventDays[event];
  const [first, last] = counts.span;
  const isDrop = event === "price_drops";
  const rows = segment.newest(isDrop ? tests : [...tests, between(column, first, last)]);
  const { filters, attribute } = counts.request;
  const selected = isDrop ? sql`position` : sql`${ident(column)} AS "day"`;
  const found = sql`SELECT ${idOf(attribute)} AS id, ${selected} ${fromMatches(rows, filters)}`;
  const events = withTokens(isDrop ? dropsOf(found, rows, counts.span) : found, attribute, rows);
  const grouped = sql`SELECT id, "day", count(*)::INTEGER AS events FROM (${events}) GROUP BY id, "day"`;
  await forEachInTurns(await engine.vectors(grouped), (part) => counts.add(segment.dictionary, part));
}

const dropsOf = (listings: Sql, { segment }: SegmentRows, [first, last]: DailyCounts["span"]): Sql => sql`
  SELECT id, dropped_on AS "day" FROM (${listings}) JOIN ${ident(segment.catalog, "price_drops")} USING (position)
  WHERE  dropped_on BETWEEN ${integerLiteral(first)} AND ${integerLiteral(last)}`;

/** The number of events on each day of a span, by value. */
class DailyCounts {
  private readonly counts = new Map<string, Int32Array>();
  private readonly keys: ReadonlySet<string> | undefined;

  constructor(
    readonly span: readonly [first: number, last: number],
    readonly request: EventRequest,
  ) {
    this.keys = request.attribute === undefined ? undefined : new Set(request.keys);
  }

  /** Adds vectors of ids, of days since 1970, and of the number of events. */
  add(dictionary: Dictionary, [ids = none, days = none, events = none]: readonly Int32Array[]): void {
    const [first, last] = this.span;
    for (let at = 0; at < ids.length; at += 1) {
      const key = this.keyOf(dictionary, ids[at] as number);
      if (key === undefined) continue;
      const counts = this.counts.get(key) ?? new Int32Array(last - first + 1);
      this.counts.set(key, counts);
      const day = (days[at] as number) - first;
      counts[day] = (counts[day] as number) + (events[at] as number);
    }
  }

  /** Returns the number of events from a day to another, of the values that have any. */
  between(start: string, end: string): ReadonlyMap<string, number> {
    const [first] = this.span;
    const sumOf = (counts: Int32Array): number =>
      counts.subarray(epochDay(start) - first, epochDay(end) - first + 1).reduce((sum, one) => sum + one, 0);
    return new Map([...this.counts].map(([key, counts]) => [key, sumOf(counts)] as const).filter(([, sum]) => sum > 0));
  }

  private keyOf(dictionary: Dictionary, id: number): string | undefined {
    if (this.keys === undefined) return "";
    if (id === unknownId) return undefined;
    const key = dictionary.valueOf(id).toLowerCase();
    return this.keys.has(key) ? key : undefined;
  }
}

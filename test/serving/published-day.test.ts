/** Which days are expected: after the weekdays and the distances of published ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { hasFailed, nextDayOf } from "../../src/serving/published-day.ts";

/** 2026-10-05 is a Monday. */
const daysFrom = (count: number, isPublished: (day: number) => boolean): readonly string[] =>
  Array.from({ length: count }, (_, day) => day)
    .filter(isPublished)
    .map((day) => plusDays("2026-10-05", day));

test("the next day follows from the rhythm of published ones", () => {
  const next = (count: number, isPublished: (day: number) => boolean) => nextDayOf(daysFrom(count, isPublished));
  assert.equal(
    next(20, () => true),
    "2026-10-25",
  );
  assert.equal(
    next(19, (day) => day % 7 < 5),
    "2026-10-26",
    "on weekdays, Monday follows Friday",
  );
  assert.equal(
    next(29, (day) => day % 7 === 0),
    "2026-11-09",
    "weekly",
  );
  assert.equal(
    next(91, (day) => day % 30 === 0),
    "2027-02-02",
    "every 30 days",
  );
  assert.equal(
    next(20, (day) => day !== 12 && day !== 13),
    "2026-10-25",
    "a gap changes nothing",
  );
  assert.equal(
    next(2, () => true),
    undefined,
    "two days are no rhythm",
  );
});

test("a day without a version has failed if its weekday is published otherwise", () => {
  const weekdays = daysFrom(26, (day) => day % 7 < 5 && day !== 16);
  const failed = Array.from({ length: 30 }, (_, day) => plusDays("2026-10-01", day)).filter((day) =>
    hasFailed(weekdays, day),
  );
  assert.deepEqual(failed, ["2026-10-21"]);
});

/**
 * Fetches the new files of sources into a queue, and closes the days that are complete. A source that fails, or is slow, stops no other, and no day:
 * each has a limit of time, and so has the fetch.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Cron } from "croner";
import { DateTime } from "luxon";
import { settleAll } from "../base/concurrency.ts";
import { orAborted, withTimeLimit } from "../base/time-limit.ts";
import { UserError } from "../base/user-error.ts";
import { matchPath } from "../connectors/file-pattern.ts";
import {
  type DayStatus,
  readFetchStatus,
  recordingFailure,
  type SourceStatus,
  writeFetchStatus,
} from "../ingest/fetch-status.ts";
import { arrivingDays, closeDay, lastClosedDay, readKnown, withQueueLock } from "./arrivals.ts";
import { type FetchRun, type FetchSettings, minuteMs, namesMax, publicMessageOf, SourceFetch } from "./source-fetch.ts";
import type { FeedSource, FeedSources } from "./sources-file.ts";

/** Sources that are fetched from at once. One that takes longer than `slowMs` is no longer counted. */
const concurrentMax = 8;
const slowMs = 5000;

/**
 * Fetches the new files of all sources, and leaves the status of the queue. Returns the days that are complete now, and have been moved to the queue's
 * waiting deliveries.
 */
export const fetchSources = (file: FeedSources, settings: FetchSettings): Promise<readonly DayStatus[]> =>
  withQueueLock(settings.queue, () => recordingFailure(settings.queue, settings.now, () => fetchAll(file, settings)));

async function fetchAll(file: FeedSources, settings: FetchSettings): Promise<readonly DayStatus[]> {
  const { queue, now } = settings;
  const begunMs = performance.now();
  const today = dayOfTime(now, file);
  const before = await readFetchStatus(queue);
  const fetch = { ...settings, today, closed: (await lastClosedDay(queue)) ?? "" };
  const sources: Record<string, SourceStatus> = {};
  const error = new UserError("not fetched in time: expected an end by the limit of the fetch; the next one goes on.");
  await withTimeLimit({ ms: timeFor(today, file, settings), error }, (signal) =>
    startEach(file.sources, async (source) => {
      const known = before?.sources[source.name];
      sources[source.name] = await fetchSource(source, fetch, known, signal);
    }),
  );
  const nowMs = now.getTime() + performance.now() - begunMs;
  const completed: DayStatus[] = [];
  const waiting: DayStatus[] = [];
  for (const day of await arrivingDays(queue)) {
    const status = await dayStatus(day, file, queue);
    const isDue = Date.parse(status.deadline) <= nowMs;
    const isComplete = isDue || (day <= dayOfTime(new Date(nowMs), file) && Object.keys(status.missing).length === 0);
    if (!isComplete || waiting.length > 0) waiting.push(status);
    else {
      await closeDay(queue, day);
      completed.push(status);
    }
  }
  const last = completed.at(-1) ?? before?.completed ?? null;
  const warnings = warningsOf(file, now);
  await writeFetchStatus(queue, { at: now.toISOString(), error: null, warnings, sources, waiting, completed: last });
  return completed;
}

/** Returns how long a fetch may take: transfers do not hold up a day whose deadline comes meanwhile, or has just passed. */
function timeFor(today: string, file: FeedSources, { now, times }: FetchSettings): number {
  const untilMs = deadlineOf(today, file).toMillis() - now.getTime();
  return untilMs < -60 * minuteMs ? times.fetchMs : Math.min(times.fetchMs, Math.max(untilMs, 0) + times.graceMs);
}

/** Starts the work of each item, of a few at once, and waits for all. */
async function startEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const counted = new Set<Promise<void>>();
  const works: Promise<void>[] = [];
  for (const item of items) {
    while (counted.size >= concurrentMax) await Promise.race(counted);
    const ended = work(item);
    works.push(ended);
    const slot = Promise.race([ended.catch(() => undefined), sleep(slowMs, undefined, { ref: false })]);
    counted.add(slot);
    void slot.then(() => counted.delete(slot));
  }
  await settleAll(works);
}

/** Fetches from a source, and reports it. */
async function fetchSource(
  source: FeedSource,
  fetch: FetchRun,
  before: SourceStatus | undefined,
  signal: AbortSignal,
): Promise<SourceStatus> {
  const { sourceMs: ms } = fetch.times;
  const late = new UserError(`not fetched within ${ms / minuteMs} minutes: expected an end; the next fetch goes on.`);
  const work = new SourceFetch(source, fetch);
  const { result } = work;
  await withTimeLimit({ ms, error: late, signal }, (limited) => orAborted(limited, work.fetch(limited)))
    .finally(() => work.end())
    .catch((thrown: unknown) => {
      result.error = publicMessageOf(source, thrown);
    });
  const { error = null, changed } = result;
  const at = fetch.now.toISOString();
  const failedSince = error === null ? null : (before?.failedSince ?? at);
  const recovered = error === null && before?.failedSince != null && { failedSince: before.failedSince };
  fetch.onSource({ source: source.name, ...result, ...recovered });
  const succeededAt = error === null ? at : (before?.succeededAt ?? null);
  return { succeededAt, failedSince, error, quarantined: work.faultsOfToday, waiting: await work.waiting(), changed };
}

const dayOfTime = (time: Date, { timeZone: zone }: FeedSources): string =>
  DateTime.fromJSDate(time, { zone }).toFormat("yyyy-MM-dd");

const deadlineOf = (day: string, { deadline, timeZone: zone }: FeedSources): DateTime =>
  DateTime.fromISO(`${day}T${deadline}`, { zone });

/** Returns what a day lacks of the files that the sources have to deliver on it: how many, and which dealers or files came before. */
async function dayStatus(day: string, file: FeedSources, queue: string): Promise<DayStatus> {
  const missing: Record<string, string> = {};
  for (const { name: source, requiredFiles, pattern } of file.sources) {
    const names = { here: new Set<string>(), before: new Set<string>() };
    let delivered = 0;
    for (const [path, known] of Object.entries(await readKnown(queue, source))) {
      if (known.fault !== null || known.day > day) continue;
      const isOnDay = known.day === day && (pattern.hasDay || dayOfTime(new Date(known.arrivedAt), file) === day);
      if (isOnDay) delivered += 1;
      const dealer = matchPath(pattern, path)?.dealer;
      if (dealer !== undefined || !pattern.hasDay) names[isOnDay ? "here" : "before"].add(dealer ?? path);
    }
    if (delivered >= requiredFiles) continue;
    const absent = [...names.before].filter((name) => !names.here.has(name)).sort();
    const more = absent.length > namesMax ? ` and ${absent.length - namesMax} more` : "";
    const which = absent.length === 0 ? "" : `, without ${absent.slice(0, namesMax).join(", ")}${more}`;
    missing[source] = `${delivered} of ${requiredFiles} files${which}`;
  }
  return { day, deadline: deadlineOf(day, file).toUTC().toISO() ?? "", missing };
}

/** Returns a warning if days are complete before files can arrive on them. */
function warningsOf({ deadline, schedule, timeZone }: FeedSources, now: Date): readonly string[] {
  const cron = new Cron(schedule, { paused: true, timezone: timeZone });
  const first = cron.nextRun(`${now.getFullYear() + 1}-01-01T00:00:00`);
  cron.stop();
  const time = first === null ? "" : DateTime.fromJSDate(first, { zone: timeZone }).toFormat("HH:mm");
  if (deadline !== "00:00" && (time === "" || deadline > time)) return [];
  return [`deadline ${deadline} is before files arrive: a day is complete with its first file: expected a later time.`];
}

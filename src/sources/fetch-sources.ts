/** Fetches from all sources into a queue, several at once, and closes the days that are complete. A source that fails stops no other. */
import { DateTime } from "luxon";
import { messageOf } from "../base/user-error.ts";
import { forEachOf } from "../connectors/transfer.ts";
import { closeDays, lastClosedDay, readKnown, withQueueLock } from "./arrivals.ts";
import { type FetchOptions, type FetchResult, fetchSource } from "./fetch-source.ts";
import type { FeedSources } from "./sources-file.ts";

/** Sources that are fetched from at once. */
const concurrentMax = 4;

export interface SourceReport extends Partial<FetchResult> {
  readonly source: string;
  /** Why the source could not be listed. */
  readonly error?: string;
}

export interface FetchSettings extends Omit<FetchOptions, "today" | "lastClosedDay"> {
  /** Called after each source. */
  readonly onSource: (report: SourceReport) => void;
}

/** Fetches the new files of all sources. Returns the days that are complete now, and have been moved to the queue's waiting deliveries. */
export const fetchSources = (file: FeedSources, settings: FetchSettings): Promise<readonly string[]> =>
  withQueueLock(settings.queue, async () => {
    const { queue, now, onSource } = settings;
    const today = dayOfTime(now, file);
    const options = { ...settings, today, lastClosedDay: (await lastClosedDay(queue)) ?? "" };
    await forEachOf(file.sources, concurrentMax, async (source) => {
      const fetched = fetchSource(source, options);
      onSource({
        source: source.name,
        ...(await fetched.catch((thrown: unknown) => ({ error: messageOf(thrown) }))),
      });
    });
    return closeDays(queue, (day) => isComplete(day, file, settings));
  });

const dayOfTime = (time: Date, { timeZone: zone }: FeedSources): string =>
  DateTime.fromJSDate(time, { zone }).toFormat("yyyy-MM-dd");

/** Returns whether a day has begun and its deadline has passed, or every source has delivered its files on the day. */
async function isComplete(day: string, file: FeedSources, { queue, now }: FetchSettings): Promise<boolean> {
  const deadline = DateTime.fromISO(`${day}T${file.deadline}`, { zone: file.timeZone });
  if (deadline.toMillis() <= now.getTime()) return true;
  if (day > dayOfTime(now, file)) return false;
  for (const { name, requiredFiles, pattern } of file.sources) {
    const delivered = Object.values(await readKnown(queue, name)).filter(
      (known) =>
        known.fault === null &&
        known.day === day &&
        (pattern.hasDay || dayOfTime(new Date(known.arrivedAt), file) === day),
    );
    if (delivered.length < requiredFiles) return false;
  }
  return true;
}

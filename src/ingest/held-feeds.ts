/**
 * What operators decide about a feed that is held: that it is right, that it is wrong, or that another file replaces its own; and about a silent
 * dealer: that its claims stand for another day, or end. A decision takes effect with the next ingest and with replays; published days do not change.
 */
import { numberOrNull } from "../base/json.ts";
import { printable, UserError } from "../base/user-error.ts";
import {
  type DecisionName,
  type FeedDecision,
  type FeedOfDay,
  isSameFeed,
  readFeedDecisions,
  recordDecision,
  withdrawDecision,
} from "../lake/feed-decisions.ts";
import type { FeedRecords } from "../serving/feed-records.ts";
import { isCorrectionWaiting, queueCorrection, withdrawCorrection } from "./corrections.ts";

/** Where decisions are kept: the lake, and the queue that its ingests empty, if there is one. */
export interface DecisionFolders {
  readonly lake: string;
  readonly queue: string | undefined;
}

/** A file that replaces one of a delivery. */
export interface Correction {
  /** The name of the replaced file in the delivery, such as `source/dealer/stock.csv`: see `ProblemFile` in `query/quality/calendar.ts`. */
  readonly file: string;
  /** The own name of the new file, whose ending says its format. */
  readonly name: string;
  readonly path: string;
}

/**
 * Records that a held feed is right or wrong, or whether one waits for an absent one, and withdraws the correction that it replaces. Throws a UserError for
 * a feed in another state, or as `replaceCorrection` does.
 */
export async function decideFeed(
  folders: DecisionFolders,
  feeds: FeedRecords,
  feed: FeedOfDay,
  { decision: name, at }: { readonly decision: Exclude<DecisionName, "correct">; readonly at: Date },
): Promise<FeedDecision> {
  const verdict = name === "wait" || name === "end" ? "none" : "collapsed";
  const decision = { ...(await feedWith(verdict, feeds, feed)), decision: name, at: at.toISOString() };
  await replaceCorrection(folders, feed);
  await recordDecision(folders.lake, decision);
  return decision;
}

/**
 * Queues a correction of a held feed for the next ingest of the queue, and records it. The file is copied. Throws a UserError if the feed is not held, there
 * is no queue, or the day has no such file.
 */
export async function correctHeldFeed(
  { lake, queue }: DecisionFolders,
  feeds: FeedRecords,
  feed: FeedOfDay,
  { at, ...correction }: Correction & { readonly at: Date },
): Promise<FeedDecision> {
  const held = await feedWith("collapsed", feeds, feed);
  await replaceCorrection({ lake, queue }, feed, correction.file);
  const file = await queueCorrection(requireQueue(queue), { day: feed.day, file: correction.file }, correction);
  const decision = { ...held, decision: "correct", at: at.toISOString(), file } as const;
  await recordDecision(lake, decision);
  return decision;
}

/**
 * Withdraws the decision about a feed, and returns it. A correction that was ingested is corrected by the file that it replaced. Throws a UserError if there
 * is no decision.
 */
export async function undoDecision({ lake, queue }: DecisionFolders, feed: FeedOfDay): Promise<FeedDecision> {
  const decision = await decisionAbout(lake, feed);
  if (decision?.file !== undefined)
    await withdrawCorrection(requireQueue(queue), { day: feed.day, file: decision.file });
  return withdrawDecision(lake, feed);
}

/**
 * Withdraws the correction of a feed by another file than one, if it waits and no other feed has it. Throws a UserError while it is being ingested, or if
 * the queue is not known.
 */
async function replaceCorrection({ lake, queue }: DecisionFolders, feed: FeedOfDay, replaced?: string): Promise<void> {
  const { file } = (await decisionAbout(lake, feed)) ?? {};
  if (file === undefined || replaced === file || replaced?.startsWith(`${file}/`)) return;
  if (queue === undefined)
    throw new UserError(
      `The feed of ${printable(feed.dealer_id, 60)} of ${feed.day} has a correction: expected "carquet correct --undo --queue <dir>" before another decision.`,
    );
  const decisions = await readFeedDecisions(lake);
  if (decisions.some((one) => one.day === feed.day && one.file === file && !isSameFeed(one, feed))) return;
  const delivered = { day: feed.day, file };
  if (isCorrectionWaiting(queue, delivered)) await withdrawCorrection(queue, delivered);
}

const decisionAbout = async (lake: string, feed: FeedOfDay): Promise<FeedDecision | undefined> =>
  (await readFeedDecisions(lake)).find((one) => isSameFeed(one, feed));

/** Whether a held feed waits for a decision: there is none, or its correction was ingested or refused and the feed is held all the same. */
export const isUndecided = (decision: FeedDecision | undefined, queue: string | undefined): boolean =>
  decision === undefined ||
  (decision.file !== undefined &&
    (queue === undefined || !isCorrectionWaiting(queue, { day: decision.day, file: decision.file })));

/** Returns a feed that is held, with the verdict `collapsed`, or absent, with `none`. Throws a UserError for another one. */
async function feedWith(
  verdict: "collapsed" | "none",
  feeds: FeedRecords,
  { dealer_id, day }: FeedOfDay,
): Promise<FeedOfDay & Pick<FeedDecision, "vins">> {
  const feed = (await feeds.feedsOf([dealer_id], day)).find(({ delivery_date }) => delivery_date === day);
  if (feed?.verdict === verdict) return { dealer_id, day, vins: numberOrNull(feed.vins) ?? 0 };
  const [is, expected] = verdict === "none" ? ["absent", "a dealer without one"] : ["held", "a collapsed feed"];
  throw new UserError(
    `The feed of ${printable(dealer_id, 60)} of ${day} is not ${is} (${feed?.verdict ?? "none"}): expected ${expected}.`,
  );
}

function requireQueue(queue: string | undefined): string {
  if (queue !== undefined) return queue;
  throw new UserError("Cannot correct a feed without a queue: expected a service of carquet run, or --queue.");
}

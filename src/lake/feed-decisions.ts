/**
 * Decisions of operators about feeds that are held or absent: a file for each feed in the folder `feed-decisions` of the lake, which ingest reads and no version
 * contains. Each is replaced or removed atomically, so that decisions of several processes about different feeds do not interfere.
 */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDay } from "../base/day.ts";
import { createFolder, folderEntries, isNotFound, replaceFile, syncToDisk } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";

/**
 * About held feeds:
 * - `release`: the feed is right. The dealer's next feed is compared with it, and a replay accepts it.
 * - `reject`: the feed is wrong. It does not count among the collapsed feeds in a row, and a replay holds all of its rows.
 * - `correct`: the feed is wrong, and another file replaces its own; see `ingest/corrections.ts`.
 *
 * About silent dealers, whose feed is absent, for the day and the next published one:
 * - `wait`: its claims stand, however long it is silent.
 * - `end`: its claims end, unless it delivers.
 */
export const decisionNames = ["release", "reject", "correct", "wait", "end"] as const;
export type DecisionName = (typeof decisionNames)[number];

/** A feed: that of a dealer on a day. */
export interface FeedOfDay {
  readonly dealer_id: string;
  readonly day: string;
}

export interface FeedDecision extends FeedOfDay {
  readonly decision: DecisionName;
  /** The number of the feed's VINs; 0 of an absent one. */
  readonly vins: number;
  /** When it was decided, as an ISO 8601 time. */
  readonly at: string;
  /** The file of the delivery that a correction replaces. */
  readonly file?: string;
}

const folderIn = (lake: string): string => join(lake, "feed-decisions");

const fileName = ({ dealer_id, day }: FeedOfDay): string =>
  `${day}.${createHash("sha256").update(dealer_id).digest("hex").slice(0, 32)}.json`;

const namePattern = /^\d{4}-\d{2}-\d{2}\.[0-9a-f]{32}\.json$/;

export const isSameFeed = (one: FeedOfDay, other: FeedOfDay): boolean =>
  one.dealer_id === other.dealer_id && one.day === other.day;

/** Returns the decisions of a lake, newest first. Throws a UserError if a file is malformed. */
export async function readFeedDecisions(lake: string): Promise<readonly FeedDecision[]> {
  const decisions: FeedDecision[] = [];
  for (const name of await folderEntries(folderIn(lake))) {
    if (!namePattern.test(name)) continue;
    const decision = await readDecision(join(folderIn(lake), name));
    if (decision !== undefined) decisions.push(decision);
  }
  return decisions.sort((one, other) => (one.at < other.at ? 1 : -1));
}

/** Returns the decision in a file; undefined if it was withdrawn meanwhile. */
async function readDecision(path: string): Promise<FeedDecision | undefined> {
  try {
    const content: unknown = JSON.parse(await readFile(path, "utf8"));
    if (isDecision(content)) return content;
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  throw new UserError(`${path}: malformed: expected the decision about a feed as "carquet release" writes it.`);
}

/** Records a decision, which replaces an earlier one about the same feed. */
export async function recordDecision(lake: string, decision: FeedDecision): Promise<void> {
  await orUnwritable(lake, createFolder(folderIn(lake)));
  await orUnwritable(lake, replaceFile(join(folderIn(lake), fileName(decision)), `${JSON.stringify(decision)}\n`));
}

/** Settles as a change of the folder does. Throws a UserError if the lake cannot be written. */
const orUnwritable = <T>(lake: string, change: Promise<T>): Promise<T> =>
  change.catch((thrown: unknown) => {
    const isReadOnly = thrown instanceof Error && "code" in thrown && ["EROFS", "EACCES"].includes(String(thrown.code));
    if (!isReadOnly) throw thrown;
    throw new UserError(
      `${folderIn(lake)}: cannot be written: expected a decision where deliveries are ingested, as by "carquet release".`,
    );
  });

/** Withdraws the decision about a feed. Returns it. Throws a UserError if there is none. */
export async function withdrawDecision(lake: string, feed: FeedOfDay): Promise<FeedDecision> {
  const path = join(folderIn(lake), fileName(feed));
  const decision = await readDecision(path);
  if (decision === undefined)
    throw new UserError(
      `No decision about the feed of ${feed.dealer_id} of ${feed.day} exists: expected a decided feed.`,
    );
  await orUnwritable(lake, rm(path, { force: true }));
  await syncToDisk(folderIn(lake));
  return decision;
}

const isDecision = (value: unknown): value is FeedDecision =>
  isObject(value) &&
  typeof value.dealer_id === "string" &&
  typeof value.day === "string" &&
  isDay(value.day) &&
  typeof value.at === "string" &&
  decisionNames.some((name) => name === value.decision) &&
  Number.isInteger(value.vins) &&
  (value.file === undefined || typeof value.file === "string");

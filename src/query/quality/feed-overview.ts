/** What operators see of feeds: those of the published day that are held or absent, and one feed in detail. */
import { numberOrNull, ownValue, textIn, textOrNullIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { IngestedDay } from "../../serving/feed-records.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { hasFailed, lastDays } from "../../serving/published-day.ts";
import {
  type CalendarFeed,
  countMissingCars,
  type FeedCalendar,
  feedCalendar,
  type MissingCar,
  missingCars,
  type ProblemFile,
  problemFiles,
} from "./calendar.ts";

/** How many dealers with a problem are read, and how many missing cars of a feed. */
const dealersMax = 500;
const shownCars = 100;

/** A feed of the published day that is held or absent. */
export interface FeedProblem extends CalendarFeed {
  readonly dealerId: string;
  readonly name: string;
  /** The median of the dealer's last accepted feeds. */
  readonly usualVins: number | null;
  /** The dealer's cars for sale. */
  readonly cars: number;
  /** Its feed on each of the shown days. */
  readonly feeds: readonly CalendarFeed[];
  /** The files that brought the feed, with their rows; none of a feed that is absent or empty. */
  readonly files: readonly ProblemFile[];
  /** How many cars of the dealer's feed before this one lacks, and the day of that feed; undefined if it lacks none. */
  readonly missing: number;
  readonly before: string | undefined;
}

export interface FeedOverview {
  /** Calendar days, in order; the published one is the last. */
  readonly days: readonly string[];
  /** Days that were expected and not published. */
  readonly failed: readonly string[];
  /** How many feeds of the published day are in each state. */
  readonly states: FeedCalendar["states"];
  readonly problems: readonly FeedProblem[];
  /** What the published ones of the days brought, newest first. */
  readonly summaries: readonly IngestedDay[];
}

/** Returns the overview of a version over some calendar days. */
export async function feedOverview(version: LakeVersion, daysMax: number): Promise<FeedOverview> {
  const { as_of: asOf, days: ingested } = version.manifest;
  const days = lastDays(asOf, daysMax);
  const published = days.filter((day) => ownValue(ingested, day) !== undefined);
  const { states, ...calendar } = await feedCalendar(version, {
    days: published,
    hasProblems: true,
    limit: dealersMax,
  });
  const found = calendar.dealers.flatMap(({ dealerId, feeds }) => {
    const cars = Number(version.dealers.find(dealerId)?.profile.listing_count ?? 0);
    const [feed] = feeds.filter(({ day }) => day === asOf);
    // Only a decision of an operator keeps the cars of a dealer that is silent for longer.
    const isLate = feed?.state === "none" && cars > 0;
    if (feed === undefined || (!isLate && !["held", "silent"].includes(feed.state))) return [];
    return [{ ...feed, state: isLate ? "silent" : feed.state, isLate, dealerId, cars, feeds }];
  });
  const dealers = found.map(({ dealerId }) => dealerId);
  const [files, missing, rows, summaries] = await Promise.all([
    problemFiles(version, { dealers, day: asOf }),
    countMissingCars(version, dealers),
    version.feeds.feedsOf(dealers, asOf),
    version.feeds.summaries(published),
  ]);
  const usual = new Map(rows.map((row) => [textIn(row, "dealer_id"), numberOrNull(row.usual_vins)]));
  return {
    days,
    failed: days.filter((day) => hasFailed(Object.keys(ingested), day)),
    states: { ...states, silent: (states.silent ?? 0) + found.filter(({ isLate }) => isLate).length },
    summaries,
    problems: found.map((problem) => ({
      ...problem,
      name: version.dealers.nameOf(problem.dealerId) ?? problem.dealerId,
      usualVins: usual.get(problem.dealerId) ?? null,
      files: files.get(problem.dealerId) ?? [],
      missing: missing.get(problem.dealerId)?.missing ?? 0,
      before: missing.get(problem.dealerId)?.before,
    })),
  };
}

export interface FeedDetails {
  readonly dealerId: string;
  readonly name: string;
  readonly day: string;
  readonly verdict: string;
  readonly isHeld: boolean;
  readonly vins: number | null;
  readonly usualVins: number | null;
  readonly minVins: number | null;
  readonly lastDay: string | null;
  readonly files: readonly ProblemFile[];
  /** The first cars of the feed before that a held feed lacks. */
  readonly missing: readonly MissingCar[];
}

const verdicts: Readonly<Record<string, string>> = {
  accepted: "accepted",
  resized: "accepted, as the dealer's new size",
  collapsed: "looks broken",
  none: "no file",
};

/** Returns a dealer's feed of a day. Refuses a day that was not ingested, and a dealer without feeds on it. */
export async function feedDetails(version: LakeVersion, dealer: string, day: string): Promise<FeedDetails> {
  const { manifest, dealers, feeds } = version;
  if (ownValue(manifest.days, day) === undefined) throw refuse("not_found", { what: "ingested day", id: day });
  const row = (await feeds.feedsOf([dealer], day)).find((feed) => feed.delivery_date === day);
  if (row === undefined) throw refuse("not_found", { what: "dealer with feeds", id: dealer });
  const isLast = day === manifest.as_of && row.verdict === "collapsed";
  const [files, missing] = await Promise.all([
    problemFiles(version, { dealers: [dealer], day }),
    isLast ? missingCars(version, { dealer, limit: shownCars }) : [],
  ]);
  return {
    dealerId: dealer,
    name: dealers.nameOf(dealer) ?? dealer,
    day,
    verdict: verdicts[String(row.verdict)] ?? "",
    isHeld: row.verdict === "collapsed",
    vins: numberOrNull(row.vins),
    usualVins: numberOrNull(row.usual_vins),
    minVins: numberOrNull(row.min_vins),
    lastDay: textOrNullIn(row, "last_delivered_on"),
    files: files.get(dealer) ?? [],
    missing,
  };
}

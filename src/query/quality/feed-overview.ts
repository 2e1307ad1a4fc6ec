/** What operators see of feeds: the calendar, what waits for a decision, and one feed in detail. */
import { numberOrNull, ownValue, type Row, textIn, textOrNullIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import { life } from "../../listing/lifecycle-rules.ts";
import type { IngestedDay } from "../../serving/feed-records.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { type DeliveredDay, hasFailed, lastDays } from "../../serving/published-day.ts";
import {
  type CalendarFeed,
  type FeedCalendar,
  feedCalendar,
  type ProblemFile,
  problemFiles,
  refusedRows,
} from "./calendar.ts";

/** How many dealers are shown: at first, and of all; and how many refused rows of a feed. */
const fewDealers = 16;
const allDealers = 500;
const shownRows = 20;

interface OverviewRequest {
  readonly weeks: number;
  /** Which dealers are shown; a few by default. */
  readonly dealers: "problems" | "all" | undefined;
  /** The feed that is shown in detail; by default that of the first dealer on the published day. */
  readonly dealer: string | undefined;
  readonly day: string | undefined;
}

/** A feed that is held, has refused rows, or is absent; and the command about it. */
export interface FeedProblem {
  readonly dealerId: string;
  readonly name: string;
  readonly day: string;
  readonly state: CalendarFeed["state"];
  readonly reason: string;
  readonly command: string;
  /** The files that brought the feed, with their rows; none of a feed that is absent or empty. */
  readonly files: readonly ProblemFile[];
}

export interface FeedDetails {
  readonly dealerId: string;
  readonly name: string;
  readonly day: string;
  readonly verdict: string;
  readonly vins: number | null;
  readonly usualVins: number | null;
  readonly minVins: number | null;
  readonly lastDay: string | null;
  readonly days: readonly Pick<DeliveredDay, "day" | "vins" | "hasFailed">[];
  /** The first refused rows: `file`, `row`, `field`, `value` and `reason`. */
  readonly refused: readonly Row[];
}

export interface FeedOverview {
  /** Calendar days, in order; the published one is the last. */
  readonly days: readonly string[];
  /** Days that were expected and not published. */
  readonly failed: readonly string[];
  readonly calendar: FeedCalendar;
  readonly names: ReadonlyMap<string, string>;
  readonly problems: readonly FeedProblem[];
  readonly summary: IngestedDay | undefined;
  readonly feed: FeedDetails | undefined;
}

/** Returns the overview of a version. Refuses a day that was not ingested. */
export async function feedOverview(version: LakeVersion, request: OverviewRequest): Promise<FeedOverview> {
  const { as_of: asOf, days: published } = version.manifest;
  const days = lastDays(asOf, 7 * request.weeks);
  const known = Object.keys(published);
  const calendar = await feedCalendar(version, {
    days: days.filter((day) => published[day] !== undefined),
    hasProblems: request.dealers === "problems",
    limit: request.dealers === undefined ? fewDealers : allDealers,
  });
  const { dealer = calendar.dealers[0]?.dealerId, day = asOf } = request;
  if (ownValue(published, day) === undefined) throw refuse("not_found", { what: "ingested day", id: day });
  const nameOf = (id: string): string => version.dealers.nameOf(id) ?? id;
  const [summary] = await version.feeds.summaries([asOf]);
  const problems = calendar.dealers.flatMap(({ dealerId, feeds }) =>
    feeds.filter((feed) => feed.day === asOf).flatMap((feed) => problemOf(feed, dealerId, nameOf(dealerId))),
  );
  const files = await problemFiles(version, { dealers: problems.map(({ dealerId }) => dealerId), day: asOf });
  return {
    days,
    calendar,
    summary,
    failed: days.filter((one) => hasFailed(known, one)),
    names: new Map(calendar.dealers.map(({ dealerId }) => [dealerId, nameOf(dealerId)])),
    problems: problems.map((problem) => ({ ...problem, files: files.get(problem.dealerId) ?? [] })),
    feed: dealer === undefined ? undefined : await feedDetails(version, { dealer, day, days, name: nameOf(dealer) }),
  };
}

function problemOf(feed: CalendarFeed, dealerId: string, name: string): readonly Omit<FeedProblem, "files">[] {
  const { day, state, vins, refused, last } = feed;
  const problem = { dealerId, name, day, state, command: `carquet quality ${day} --dealer ${dealerId}` };
  switch (state) {
    case "silent":
      return [
        { ...problem, reason: `Last delivery ${last}. Its claims end after ${life.silentDays} days without one.` },
      ];
    case "refused":
      return [{ ...problem, reason: `${refused} rows were refused; ${vins} VINs were read.` }];
    case "held":
      return [{ ...problem, reason: holdReason(feed), command: `carquet release ${dealerId} ${day}` }];
    default:
      return [];
  }
}

const holdReason = ({ vins, min_vins, known_prices, jumped_prices }: CalendarFeed): string =>
  vins < (min_vins ?? 0)
    ? `${vins} VINs, expected ${Math.ceil(min_vins ?? 0)} or more. The dealer's other listings stay.`
    : `${jumped_prices} of ${known_prices} known prices jumped. The dealer's listings stay as they were.`;

const verdicts: Readonly<Record<string, string>> = {
  accepted: "accepted",
  resized: "accepted, as the dealer's new size",
  collapsed: "held",
  none: "no feed",
};

interface DetailsRequest {
  readonly dealer: string;
  readonly name: string;
  readonly day: string;
  readonly days: readonly string[];
}

/** Returns a dealer's feed of a day; undefined for a dealer without feeds. */
async function feedDetails(
  version: LakeVersion,
  { dealer, name, day, days }: DetailsRequest,
): Promise<FeedDetails | undefined> {
  const [first = day] = [day, ...days].sort();
  const feeds = await version.feeds.feedsOf([dealer], first);
  const byDay = new Map(feeds.map((row) => [textIn(row, "delivery_date"), row]));
  const row = byDay.get(day);
  if (feeds.length === 0) return undefined;
  return {
    dealerId: dealer,
    name,
    day,
    verdict: verdicts[String(row?.verdict ?? "none")] ?? "",
    vins: numberOrNull(row?.vins),
    usualVins: numberOrNull(row?.usual_vins),
    minVins: numberOrNull(row?.min_vins),
    lastDay: row === undefined ? null : textOrNullIn(row, "last_delivered_on"),
    days: days.map((one) => ({ day: one, vins: numberOrNull(byDay.get(one)?.vins) ?? undefined, hasFailed: false })),
    refused: await refusedRows(version, { dealer, day, limit: shownRows }),
  };
}

/** The decisions about feeds that look broken: accept, reject or correct each, and undo what was decided. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JSX } from "preact";
import { plusDays } from "../../base/day.ts";
import { UserError } from "../../base/user-error.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { correctHeldFeed, decideHeldFeed, undoDecision } from "../../ingest/held-feeds.ts";
import { decisionNames, type FeedDecision, type FeedOfDay } from "../../lake/feed-decisions.ts";
import { type FeedOverview, type FeedProblem, feedDetails } from "../../query/quality/feed-overview.ts";
import type { FeedRecords } from "../../serving/feed-records.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { type BrokenFeed, brokenFeedText, decidedText } from "../sentences/operate.ts";
import { count, day as dayText, shortDay } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { Words } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { operatePage, operatePath } from "./operate-page.tsx";

/** Returns the address of what is known about a dealer's feed of a day. */
export const feedPath = (dealer: string, day: string): string =>
  `/operate/days/${day}?${new URLSearchParams({ dealer })}`;

interface BrokenFeedsProps {
  readonly feeds: readonly FeedProblem[];
  /** The days of the bars, and the published one before the last. */
  readonly overview: Pick<FeedOverview, "days" | "before">;
  readonly visitor: Visitor;
}

/** The feeds that wait for a decision. */
export const BrokenFeeds = ({ feeds, overview: { days, before }, visitor }: BrokenFeedsProps): JSX.Element => (
  <ul class="todo">
    {feeds.map((feed) => (
      <li key={feed.dealerId} id={`feed-${feed.dealerId}`}>
        <div>
          <h3>
            {feed.name} <Badge look="high">looks broken</Badge>
          </h3>
          <p>
            <Words sentence={brokenFeedText(oddnessOf(feed, before))} />{" "}
            <a href={feedPath(feed.dealerId, feed.day)}>
              See them<span class="vh">, the cars of {feed.name}</span>
            </a>
          </p>
          {feed.files.map(({ file, firstRow, rows }) => (
            <p key={file} class="small">
              {file}, from row {count(firstRow)}: {count(rows)} rows
            </p>
          ))}
        </div>
        <DayBars feed={feed} days={days} />
        <DecisionForm feed={feed} visitor={visitor} />
      </li>
    ))}
  </ul>
);

/** Returns what is odd about a held feed: too few rows, or prices that jumped. */
const oddnessOf = (feed: FeedProblem, before: string | undefined): BrokenFeed => ({
  name: feed.name,
  vins: feed.vins,
  usualVins: feed.usualVins,
  ...(feed.vins < (feed.min_vins ?? 0)
    ? {
        missing: feed.missing,
        before: before === plusDays(feed.day, -1) ? undefined : before && shortDay(before, feed.day),
      }
    : { jumpedPrices: feed.jumped_prices, knownPrices: feed.known_prices }),
});

const barWidth = 16;
const barStep = 19;
const barsHeight = 44;
/** A day without a car still has a mark. */
const heightMin = 1.5;

/** The rows of a feed on each day as bars, the last one in the color of the subject. */
const DayBars = ({ feed: { feeds, name }, days }: { readonly feed: FeedProblem; readonly days: readonly string[] }) => {
  const vins = days.map((day) => feeds.find((one) => one.day === day)?.vins ?? 0);
  const most = Math.max(1, ...vins);
  return (
    <svg viewBox="0 0 190 44" role="img" aria-label={`Cars of ${name} on ${days.length} days: ${vins.join(", ")}`}>
      {vins.map((number, index) => {
        const height = Math.max(heightMin, Math.round((number / most) * 400) / 10);
        return (
          <rect
            key={days[index]}
            x={index * barStep}
            y={barsHeight - height}
            width={barWidth}
            height={height}
            rx="1.5"
            fill={index === vins.length - 1 ? "var(--coral)" : "var(--petrol2)"}
          />
        );
      })}
    </svg>
  );
};

const FeedFields = ({ dealer, day }: { readonly dealer: string; readonly day: string }): JSX.Element => (
  <>
    <input type="hidden" name="dealer" value={dealer} />
    <input type="hidden" name="day" value={day} />
  </>
);

const DecisionForm = ({
  feed: { dealerId, day, name },
  visitor,
}: Pick<BrokenFeedsProps, "visitor"> & { readonly feed: FeedProblem }) => (
  <Form visitor={visitor} action="/operate/decide" class="acts">
    <FeedFields dealer={dealerId} day={day} />
    <Button look="main" isSmall name="decision" value="release">
      Accept it<span class="vh">: {name}</span>
    </Button>
    <Button isSmall name="decision" value="reject">
      Reject it<span class="vh">: {name}</span>
    </Button>
    <Button isSmall href={`/operate/correct?${new URLSearchParams({ dealer: dealerId, day })}`}>
      Correct…<span class="vh"> {name}</span>
    </Button>
  </Form>
);

const decided = { release: "accepted", reject: "rejected", correct: "corrected" } as const;

interface DecidedProps {
  readonly decisions: readonly FeedDecision[];
  readonly nameOf: (dealer: string) => string;
  readonly asOf: string;
  readonly visitor: Visitor;
}

/** What was decided today, each with a button that undoes it. */
export const DecidedToday = ({ decisions, nameOf, asOf, visitor }: DecidedProps): JSX.Element => (
  <Sheet
    id="decided"
    title={`Decided today: ${count(decisions.length)}`}
    of="A decision takes effect with the next delivery. Until then it can be undone."
  >
    <ul class="lines">
      {decisions.map(({ dealer_id: dealer, day, decision, file }) => (
        <li key={`${dealer} ${day}`}>
          <span>
            {decidedText(nameOf(dealer), decided[decision])}{" "}
            <span class="mute">
              {day === asOf ? "" : `File of ${shortDay(day, asOf)}. `}
              {file}
            </span>
          </span>
          <Form visitor={visitor} action="/operate/undo">
            <FeedFields dealer={dealer} day={day} />
            <Button isSmall>
              Undo<span class="vh"> the decision about {nameOf(dealer)}</span>
            </Button>
          </Form>
        </li>
      ))}
    </ul>
  </Sheet>
);

/** The page that asks for the file which replaces that of a feed. */
export const correctPage =
  ({ current, queue }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const dealer = query.get("dealer") ?? "";
    const feed = await current.use((version) => feedDetails(version, dealer, query.get("day") ?? ""));
    return operatePage({
      path: operatePath,
      title: `Correct the file of ${feed.name}`,
      here: feed.name,
      visitor,
      judgement: {
        sentence: [`Correct the file of ${feed.name} of ${dayText(feed.day)}.`],
        ...(queue === undefined
          ? {}
          : { context: ["The file you choose replaces the file that came. The day is published again with it."] }),
      },
      children: (
        <Sheet title="The right file">
          {queue === undefined ? (
            <p>
              This service has no queue of deliveries, so it cannot replace a file. A service of{" "}
              <code>carquet run</code> can; here, correct the file at its source and ingest the day again.
            </p>
          ) : (
            <Form visitor={visitor} action="/operate/decide" class="stack upload" hasFile>
              <FeedFields dealer={dealer} day={feed.day} />
              <input type="hidden" name="decision" value="correct" />
              {feed.files.length === 0 ? (
                <Field label="Replaces" name="file" required hint="The name of the dealer's file in the delivery." />
              ) : (
                <Select label="Replaces" name="file" options={feed.files.map(({ file }) => [file, file])} />
              )}
              <Field label="New file" type="file" name="upload" required hint="Of the same format, up to 16 MiB." />
              <div class="line">
                <Button look="main">Correct it</Button>
                <Button href={operatePath}>Keep it waiting</Button>
              </div>
            </Form>
          )}
        </Sheet>
      ),
    });
  };

/** Accepts, rejects or corrects a held feed, as `carquet release`, `reject` and `correct` do. */
export const decideByForm =
  (services: SiteServices) =>
  async ({ visitor, fields, file }: VisitorForm) => {
    const { current, exports, queue, accounts } = services;
    const decision = decisionNames.find((name) => name === fields.get("decision"));
    if (decision === undefined) throw new UserError(`Invalid decision: expected ${decisionNames.join(", ")}.`);
    const feed = feedIn(fields);
    const at = new Date(accounts.administration.nowMs);
    const decided = await current.use(async ({ feeds }) => {
      requireDay(feeds, feed.day);
      if (decision !== "correct") return decideHeldFeed(exports.lake, feeds, feed, { decision, at });
      if (file === undefined || file.size === 0) throw new UserError("No file: expected one with rows.");
      return withFile(file, (path) =>
        correctHeldFeed({ lake: exports.lake, queue }, feeds, feed, {
          at,
          path,
          name: file.name,
          file: fields.get("file") ?? "",
        }),
      );
    });
    await record(services, visitor, decision, decided);
    return { location: `${operatePath}?decided=${decision}` };
  };

export const undoByForm =
  (services: SiteServices) =>
  async ({ visitor, fields }: VisitorForm) => {
    const { exports, queue } = services;
    await record(services, visitor, "undo", await undoDecision({ lake: exports.lake, queue }, feedIn(fields)));
    return { location: `${operatePath}?decided=undo` };
  };

/** What is said after a decision, by what the page has as `decided`. */
export const decidedNotes: ReadonlyMap<string, string> = new Map([
  ["release", "The file is accepted."],
  ["reject", "The file is rejected."],
  ["correct", "The correction waits for the next ingest."],
  ["undo", "The decision is undone."],
]);

const feedIn = (fields: URLSearchParams): FeedOfDay => ({
  dealer_id: fields.get("dealer") ?? "",
  day: fields.get("day") ?? "",
});

function requireDay(feeds: FeedRecords, day: string): void {
  if (!feeds.days.includes(day)) throw refuse("not_found", { what: "ingested day", id: day });
}

/** Keeps who decided in the audit log. */
async function record(
  { accounts: { administration } }: SiteServices,
  visitor: Visitor,
  name: FeedDecision["decision"] | "undo",
  { dealer_id: dealerId, day, file }: FeedDecision,
): Promise<void> {
  const input = { dealerId, day, ...(file === undefined ? {} : { file }) };
  await administration.change(visitor.identity.key.accountId, name, input);
}

/** Calls `work` with the path of an uploaded file, which is removed afterwards. */
async function withFile<T>(file: File, work: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-upload-"));
  try {
    const path = join(folder, "upload");
    await writeFile(path, new Uint8Array(await file.arrayBuffer()));
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

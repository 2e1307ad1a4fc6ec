/** The decisions about feeds that look broken: accept, reject or correct each, and undo what was decided. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JSX } from "preact";
import { plusDays } from "../../base/day.ts";
import { UserError } from "../../base/user-error.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { correctHeldFeed, decideFeed, undoDecision } from "../../ingest/held-feeds.ts";
import { decisionNames, type FeedDecision, type FeedOfDay } from "../../lake/feed-decisions.ts";
import type { FeedDetails, FeedOverview, FeedProblem } from "../../query/quality/feed-overview.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { type BrokenFeed, brokenFeedText, decidedText } from "../sentences/operate.ts";
import { count, shortDay } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { Redirect } from "../shell/pages.tsx";
import { Words } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { FeedLink, feedPath, operatePath } from "./operate-page.tsx";

interface BrokenFeedsProps {
  readonly feeds: readonly FeedProblem[];
  /** The days of the bars. */
  readonly days: FeedOverview["days"];
  readonly visitor: Visitor;
}

/** The feeds that wait for a decision. */
export const BrokenFeeds = ({ feeds, days, visitor }: BrokenFeedsProps): JSX.Element => (
  <ul class="todo">
    {feeds.map((feed) => (
      <li key={feed.dealerId} id={`feed-${feed.dealerId}`}>
        <div>
          <h3>
            {feed.name} <Badge look="high">looks broken</Badge>
          </h3>
          <p>
            <Words sentence={brokenFeedText(oddnessOf(feed))} />{" "}
            <FeedLink id={feed.dealerId} day={feed.day} name="See them" />
          </p>
          {feed.files.map(({ file, firstRow, rows }) => (
            <p key={file} class="small">
              {file}, from row {count(firstRow)}: {count(rows)} rows
            </p>
          ))}
        </div>
        <DayBars feed={feed} days={days} />
        <Form visitor={visitor} action="/operate/decide" class="acts" hidden={namesOf(feed.dealerId, feed.day)}>
          <Button look="main" isSmall name="decision" value="release">
            Accept it<span class="vh">: {feed.name}</span>
          </Button>
          <Button isSmall name="decision" value="reject">
            Reject it<span class="vh">: {feed.name}</span>
          </Button>
          <Button isSmall href={`${feedPath(feed.dealerId, feed.day)}#correct`}>
            Correct…<span class="vh"> {feed.name}</span>
          </Button>
        </Form>
      </li>
    ))}
  </ul>
);

interface SilentActsProps {
  readonly feed: FeedProblem;
  readonly decision: FeedDecision | undefined;
  readonly visitor: Visitor;
}

/** What can be decided about a dealer without a feed, or has been. Cars end by a decision from the second day on. */
export const SilentActs = ({ feed, decision, visitor }: SilentActsProps): JSX.Element | null =>
  decision !== undefined ? (
    <span class="mute">{decision.decision === "end" ? "its cars end" : "waits a day"}</span>
  ) : feed.cars === 0 ? null : (
    <Form visitor={visitor} action="/operate/decide" class="acts" hidden={namesOf(feed.dealerId, feed.day)}>
      <Button isSmall name="decision" value="wait">
        Wait a day<span class="vh"> for {feed.name}</span>
      </Button>
      {plusDays(feed.last ?? feed.day, 1) === feed.day ? null : (
        <Button isSmall name="decision" value="end">
          End its cars<span class="vh">: {feed.name}</span>
        </Button>
      )}
    </Form>
  );

/** Returns the fields by which forms and addresses name a feed. */
const namesOf = (dealer: string, day: string) => ({ dealer, day });

/** Returns what is odd about a held feed: too few rows, or prices that jumped. */
const oddnessOf = (feed: FeedProblem): BrokenFeed => ({
  vins: feed.vins,
  usualVins: feed.usualVins,
  ...(feed.vins < (feed.min_vins ?? 0)
    ? {
        missing: feed.missing,
        before: feed.before === plusDays(feed.day, -1) ? undefined : feed.before && shortDay(feed.before, feed.day),
      }
    : { jumpedPrices: feed.jumped_prices, knownPrices: feed.known_prices }),
});

/** The rows of a feed on each day as bars, the last one in the color of the subject. A day without a car still has a mark. */
const DayBars = ({ feed: { feeds, name }, days }: { readonly feed: FeedProblem; readonly days: readonly string[] }) => {
  const vins = days.map((day) => feeds.find((one) => one.day === day)?.vins ?? 0);
  const most = Math.max(1, ...vins);
  const heights = vins.map((number) => Math.max(1.5, Math.round((number / most) * 400) / 10));
  return (
    <svg viewBox="0 0 190 44" role="img" aria-label={`Cars of ${name} on ${days.length} days: ${vins.join(", ")}`}>
      {heights.map((height, index) => {
        const color = index === days.length - 1 ? "var(--coral)" : "var(--petrol2)";
        return (
          <rect key={days[index]} x={index * 19} y={44 - height} width={16} height={height} rx="1.5" fill={color} />
        );
      })}
    </svg>
  );
};

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
      {decisions.map((one) => (
        <li key={`${one.dealer_id} ${one.day}`}>
          <span>
            {decidedText(nameOf(one.dealer_id), one.decision)}{" "}
            <span class="mute">
              {one.day === asOf ? "" : `File of ${shortDay(one.day, asOf)}. `}
              {one.file}
            </span>
          </span>
          <Form visitor={visitor} action="/operate/undo" hidden={namesOf(one.dealer_id, one.day)}>
            <Button isSmall>
              Undo<span class="vh"> the decision about {nameOf(one.dealer_id)}</span>
            </Button>
          </Form>
        </li>
      ))}
    </ul>
  </Sheet>
);

interface CorrectProps {
  readonly feed: FeedDetails;
  readonly queue: string | undefined;
  readonly visitor: Visitor;
}

/** Asks for the file that replaces that of a held feed. */
export const Correct = ({ feed: { dealerId, day, files }, queue, visitor }: CorrectProps): JSX.Element => (
  <Sheet id="correct" title="Correct it">
    {queue === undefined ? (
      <p>
        This service has no queue of deliveries, so it cannot replace a file. A service of <code>carquet run</code> can;
        here, correct the file at its source and ingest the day again.
      </p>
    ) : (
      <Form
        visitor={visitor}
        action="/operate/decide"
        class="stack upload"
        hasFile
        hidden={{ ...namesOf(dealerId, day), decision: "correct" }}
      >
        {files.length === 0 ? (
          <Field label="Replaces" name="file" required hint="The name of the dealer's file in the delivery." />
        ) : (
          <Select label="Replaces" name="file" options={files.map(({ file }) => [file, file])} />
        )}
        <Field
          label="New file"
          type="file"
          name="upload"
          required
          hint="Of the same format, up to 16 MiB. The day is published again with it."
        />
        <div class="line">
          <Button look="main">Correct it</Button>
        </div>
      </Form>
    )}
  </Sheet>
);

/** Decides about a silent dealer, or about a held feed as `carquet release`, `reject` and `correct` do. */
export const decideByForm =
  (services: SiteServices) =>
  async ({ visitor, fields, file }: VisitorForm) => {
    const { current, exports, queue, accounts } = services;
    const decision = decisionNames.find((name) => name === fields.get("decision"));
    if (decision === undefined) throw new UserError(`Invalid decision: expected ${decisionNames.join(", ")}.`);
    const feed = feedIn(fields);
    const at = new Date(accounts.administration.nowMs);
    const decided = await current.use(async ({ feeds, manifest }) => {
      if (!Object.hasOwn(manifest.days, feed.day)) throw refuse("not_found", { what: "ingested day", id: feed.day });
      if (decision !== "correct") return decideFeed({ lake: exports.lake, queue }, feeds, feed, { decision, at });
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
    return recorded(services, visitor, decision, decided);
  };

export const undoByForm =
  (services: SiteServices) =>
  async ({ visitor, fields }: VisitorForm) => {
    const { exports, queue } = services;
    return recorded(services, visitor, "undo", await undoDecision({ lake: exports.lake, queue }, feedIn(fields)));
  };

const feedIn = (fields: URLSearchParams): FeedOfDay => ({
  dealer_id: fields.get("dealer") ?? "",
  day: fields.get("day") ?? "",
});

/** Keeps who decided in the audit log; returns the page, which lists what was decided. */
async function recorded(
  { accounts: { administration } }: SiteServices,
  visitor: Visitor,
  name: FeedDecision["decision"] | "undo",
  { dealer_id: dealerId, day, file }: FeedDecision,
): Promise<Redirect> {
  const details = [dealerId, day, ...(file === undefined ? [] : [file])].join(" ");
  await administration.record(visitor.identity.key.accountId, name, details);
  return { location: `${operatePath}#${name === "undo" ? "decide" : "decided"}` };
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

/** What waits for a decision of an operator, each with the command that acts on it. */
import type { ComponentChildren, JSX } from "preact";
import { type FeedDecision, isSameFeed } from "../../lake/feed-decisions.ts";
import type { IngestRecord } from "../../lake/ingest-record.ts";
import type { FeedOverview, FeedProblem } from "../../query/quality/feed-overview.ts";
import { Block } from "../shell/blocks.tsx";
import { count, day as dayText, time } from "../shell/format.ts";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface DecisionsProps {
  readonly overview: FeedOverview;
  readonly lastIngest: IngestRecord | undefined;
  readonly decisions: readonly FeedDecision[];
  readonly visitor: Visitor;
}

const shownProblems = 8;

/** The class of the tag of a state. */
const tags: Readonly<Record<string, string>> = { held: "tag warn", silent: "tag" };

export const Decisions = ({ overview: { problems, failed }, lastIngest, ...props }: DecisionsProps): JSX.Element => (
  <Block
    id="decisions"
    title={
      <>Needs a decision {problems.length === 0 ? null : <span class="tag warn">{count(problems.length)}</span>}</>
    }
  >
    <ul class="items">
      {lastIngest?.error == null ? null : (
        <Item name="The last ingest" state="failed" command="carquet ingest --queue <dir>">
          {time(Date.parse(lastIngest.at))} UTC: {lastIngest.error} Correct or remove the delivery; later ones wait.
        </Item>
      )}
      {problems.slice(0, shownProblems).map((problem) => (
        <Problem key={problem.dealerId} problem={problem} {...props} />
      ))}
      {failed.slice(0, 1).map((day) => (
        <Item key={day} name={dayText(day)} state="not published" command={`carquet ingest --replay-from ${day} <dir>`}>
          A replay publishes this day and all later ones from their deliveries.
        </Item>
      ))}
    </ul>
    {problems.length > shownProblems ? (
      <a href="/operator?dealers=problems">{count(problems.length - shownProblems)} more</a>
    ) : null}
  </Block>
);

interface ItemProps {
  readonly name: string;
  readonly state: string;
  readonly command: string;
  readonly children: ComponentChildren;
}

const Item = ({ name, state, command, children }: ItemProps): JSX.Element => (
  <li>
    <b>{name}</b> <span class={tags[state] ?? "tag bad"}>{state}</span>
    <div class="small soft">{children}</div>
    <code class="cmd">{command}</code>
  </li>
);

interface ProblemProps extends Pick<DecisionsProps, "visitor" | "decisions"> {
  readonly problem: FeedProblem;
}

const Problem = ({ problem: { dealerId, day, name, state, reason, command }, visitor, decisions }: ProblemProps) => (
  <Item name={name} state={state} command={command}>
    {reason} <a href={`/operator?${new URLSearchParams({ dealer: dealerId, day })}`}>See the feed</a>
    {state !== "held" ? null : decisions.some((feed) => isSameFeed(feed, { dealer_id: dealerId, day })) ? (
      " Released: the dealer's next feed is compared with it."
    ) : (
      <Form visitor={visitor} action="/operator/release">
        <input type="hidden" name="dealer" value={dealerId} />
        <input type="hidden" name="day" value={day} />
        <button type="submit" class="btn s">
          Release the feed of {name}
        </button>
      </Form>
    )}
  </Item>
);

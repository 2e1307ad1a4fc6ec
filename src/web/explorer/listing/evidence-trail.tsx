/** What the data about a listing rests on: observations and decisions in words, each with its rule and feed row, the newest first. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { Block } from "../../shell/blocks.tsx";
import { amountOf, count, day } from "../../shell/format.ts";

interface EvidenceTrailProps {
  readonly evidence: AnswerOf<"getEvidence">;
  readonly valued: AnswerOf<"getListingComparables">["data"] | undefined;
}

/** The steps that are shown at first. */
const firstSteps = 5;

export const EvidenceTrail = ({ evidence: { data, meta }, valued }: EvidenceTrailProps): JSX.Element => {
  const steps = data.steps
    .map(({ day: date, text, rule, source }, index) => {
      const row = source === null ? [] : [`${source.file} of ${source.day}, row ${count(source.row)}`];
      return <Step key={index} day={date} text={text} rule={[rule ?? "no recorded rule", ...row].join(" · ")} />;
    })
    .reverse();
  const more = steps.slice(firstSteps);
  return (
    <Block id="evidence" title="Evidence" end={amountOf(meta.total, "step")}>
      <ol class="trail small">
        {valued === undefined ? null : <Step isKey day={meta.as_of} {...ratedStep(valued)} />}
        {steps.slice(0, firstSteps)}
      </ol>
      {more.length === 0 ? null : (
        <details class="more">
          <summary>{count(more.length)} earlier</summary>
          <ol class="trail small">{more}</ol>
        </details>
      )}
    </Block>
  );
};

function ratedStep({ valuation, summary }: NonNullable<EvidenceTrailProps["valued"]>) {
  const { value_rating: rating, step, null_reason: reason } = valuation;
  const among = summary?.sample === undefined ? "" : ` among ${summary.sample} comparables`;
  return {
    text: rating === null ? "Not rated." : `Rated ${rating}${among}.`,
    rule: step === null ? `valuation: ${reason}` : `valuation.${step}`,
  };
}

interface StepProps {
  readonly day: string;
  readonly text: string;
  readonly rule: string;
  readonly isKey?: boolean;
}

const Step = ({ day: date, text, rule, isKey = false }: StepProps): JSX.Element => (
  <li class={isKey ? "key" : undefined}>
    <span class="muted">{day(date)}</span>
    {` · ${text}`}
    <div class="rule">{rule}</div>
  </li>
);

/** What the data about a listing rests on: observations and decisions in words, each with its rule and feed row, the newest first. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { count, day } from "../../shell/format.ts";

type Evidence = AnswerOf<"getEvidence">;
type Step = Evidence["data"]["steps"][number];

interface EvidenceTrailProps {
  readonly evidence: Evidence;
  readonly valued: AnswerOf<"getListingComparables">["data"] | undefined;
}

/** The steps that are shown at first. */
const firstSteps = 5;

export const EvidenceTrail = ({ evidence: { data, meta }, valued }: EvidenceTrailProps): JSX.Element => {
  const steps = [...data.steps].reverse();
  const more = steps.slice(firstSteps);
  return (
    <section class="sheet pad">
      <div class="head">
        <h2>Evidence</h2>
        <span class="end muted">{count(meta.total, meta.total === 1 ? " step" : " steps")}</span>
      </div>
      <ol class="trail small">
        {valued === undefined ? null : <Rated valued={valued} asOf={meta.as_of} />}
        {steps.slice(0, firstSteps).map(Decision)}
      </ol>
      {more.length === 0 ? null : (
        <details class="more">
          <summary>{count(more.length)} earlier</summary>
          <ol class="trail small">{more.map(Decision)}</ol>
        </details>
      )}
    </section>
  );
};

interface RatedProps {
  readonly valued: NonNullable<EvidenceTrailProps["valued"]>;
  readonly asOf: string;
}

const Rated = ({ valued: { valuation, summary }, asOf }: RatedProps): JSX.Element => {
  const { value_rating: rating, step, null_reason: reason } = valuation;
  return (
    <li class="key">
      <span class="muted">{day(asOf)}</span>
      {rating === null ? " · Not rated." : ` · Rated ${rating} among ${summary?.sample ?? 0} comparables.`}
      <div class="rule">{step === null ? `valuation: ${reason}` : `valuation.${step}`}</div>
    </li>
  );
};

const Decision = (step: Step, index: number): JSX.Element => (
  <li key={index}>
    <span class="muted">{day(step.day)}</span>
    {` · ${step.text}`}
    <div class="rule">
      {[step.rule ?? "no recorded rule", sourceOf(step)].filter((part) => part !== "").join(" · ")}
    </div>
  </li>
);

const sourceOf = ({ source }: Step): string =>
  source === null ? "" : `${source.file} of ${source.day}, row ${count(source.row)}`;

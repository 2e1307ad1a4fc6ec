/** The sentences of evidence, each built from the data of its step. */
import { lifecycleRules } from "../../listing/lifecycle-rules.ts";
import type { Finding, IssueFinding } from "./claim-steps.ts";
import type { EvidenceFact, EvidenceStep } from "./vin-history.ts";

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

const numberOf = ({ facts }: Finding, name: EvidenceFact["name"]): number =>
  facts.find((one) => one.name === name)?.value ?? 0;

const valueText = (value: EvidenceStep["changes"][number]["after"]): string => value ?? "unknown";

/** The attributes that a sentence names when a claim begins; all are in `changes`. */
const headlineFields = ["year", "make", "model", "price", "miles"];

const claimedText = (step: Finding, dealer: string): string => {
  const headline = step.changes.filter(({ field }) => headlineFields.includes(field));
  const values = headline.map(({ field, after }) => `${field} ${valueText(after)}`).join(", ");
  return `${dealer} claims the VIN${values === "" ? "" : ` with ${values}`}.`;
};

const changedText = ({ changes }: Finding, dealer: string): string =>
  `The feed of ${dealer} changes ${changes.map(({ field, before, after }) => `${field} from ${valueText(before)} to ${valueText(after)}`).join(", ")}.`;

function unconfirmedText(step: Finding, dealer: string): string {
  if (step.rule === "standing_claim")
    return `${dealer} has delivered nothing for ${count(numberOf(step, "days_without_feed"), "day")}; its claim stands.`;
  const [feed] = step.facts;
  if (feed !== undefined && feed.value >= (feed.threshold ?? 0))
    return `The feed of ${dealer} is held because its prices collapsed; the claim stands.`;
  return `The feed of ${dealer} has ${count(numberOf(step, "feed_vins"), "VIN")}, usually ${numberOf(step, "usual_vins")}, and lacks this one; the claim stands.`;
}

const claimEndedText = (step: Finding, dealer: string): string =>
  step.rule === "silent_dealer"
    ? `${dealer} has delivered nothing for ${count(numberOf(step, "days_without_feed"), "day")}; its claim ends.`
    : `The accepted feed of ${dealer} has ${count(numberOf(step, "feed_vins"), "VIN")} and lacks this one; the claim ends.`;

/** The sentence of a rule, if one decided. */
const because = ({ rule }: Finding): string => (rule === null ? "" : ` ${lifecycleRules[rule]}`);

const among = ({ claimants }: Finding): string =>
  claimants.length === 1 ? "" : ` among ${count(claimants.length, "claimant")}`;

const absence = (step: Finding): string =>
  `It was last seen ${count(numberOf(step, "days_absent"), "day")} before, is absent from ${count(numberOf(step, "feeds_without"), "accepted feed")} since, and was seen on ${count(numberOf(step, "days_seen"), "day")}.`;

const sentences: Readonly<Record<Exclude<EvidenceStep["event"], "issue">, (step: Finding, dealer: string) => string>> =
  {
    claimed: claimedText,
    changed: changedText,
    unconfirmed: unconfirmedText,
    claim_ended: claimEndedText,
    listed: (step, dealer) => `A listing at ${dealer} begins${among(step)}.${because(step)}`,
    kept: (step, dealer) => `${dealer} keeps the VIN${among(step)}.${because(step)}`,
    returned: (step, dealer) => `The listing at ${dealer} is active again${among(step)}.${because(step)}`,
    missing: (step, dealer) => `The listing at ${dealer} is missing. ${absence(step)}${because(step)}`,
    sold: (step, dealer) => `The listing at ${dealer} is sold. ${absence(step)}${because(step)}`,
    ended: (step, dealer) =>
      step.rule === "superseded"
        ? `The listing at ${dealer} ends.${because(step)}`
        : `The listing at ${dealer} ends, missing for ${count(numberOf(step, "days_missing"), "day")}.${because(step)}`,
  };

/** Returns a finding as a step. `dealer` is the name of its dealer. */
export const stepOf = (step: Finding, dealer: string): EvidenceStep => ({
  ...step,
  text: step.event === "issue" ? "" : sentences[step.event](step, dealer),
});

/** Returns an issue as a step. */
export function issueStep({ reason, ...step }: IssueFinding): EvidenceStep {
  const [value] = step.changes;
  const days = numberOf(step, "repeated_days");
  const stated = `${value?.field} "${valueText(value?.before ?? null)}"`;
  const repeated = days === 1 ? "" : `, on ${count(days, "day")}`;
  return {
    ...step,
    text: `Row ${step.source?.row} of ${step.source?.file} states ${stated}: ${reason}${repeated}.${because(step)}`,
  };
}

/** Evidence for operation `getEvidence`: every observation, claim and decision about a VIN, each with its rule, its source and a sentence, in the order of days. */
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { lifecycleRules } from "../../listing/lifecycle-rules.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { claimFindings, decisionsOf, type Finding, type IssueFinding, issueFindings } from "./steps.ts";
import { type EvidenceFact, type EvidenceStep, readVinHistory } from "./vin-history.ts";

type Evidence = AnswerOf<"getEvidence">["data"];

/** The order of the steps of a day: what feeds stated comes before what followed from it. */
const eventOrder: readonly EvidenceStep["event"][] = [
  "issue",
  "claimed",
  "changed",
  "unconfirmed",
  "claim_ended",
  "ended",
  "missing",
  "sold",
  "listed",
  "returned",
  "kept",
];

const rankOf = ({ event }: EvidenceStep): number => eventOrder.indexOf(event);

/** Returns the newest steps about a VIN (in any case). Refuses a VIN that no row had with `not_found`. */
export async function explainVin(
  text: string,
  limit: number,
  version: LakeVersion,
): Promise<{ readonly data: Evidence; readonly total: number }> {
  const vin = text.toUpperCase();
  const history = await readVinHistory(vin, version);
  if (history.claims.length + history.issues.length === 0)
    throw refuse("not_found", { what: "evidence about the VIN", id: text });
  const { decisions, status } = decisionsOf(history);
  const findings = [...claimFindings(history), ...decisions];
  const nameOf = (id: string | null): string => `${version.dealers.nameOf(id ?? "") ?? id}`;
  const steps = [
    ...issueFindings(history).map(issueStep),
    ...findings.map((finding) => stepOf(finding, nameOf(finding.dealer_id))),
  ].sort((a, b) => (a.day === b.day ? rankOf(a) - rankOf(b) : a.day < b.day ? -1 : 1));
  return { data: { vin, status, steps: steps.slice(-limit) }, total: steps.length };
}

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
  if (feed === undefined) return `The feed of ${dealer} is held because an operator rejected it; the claim stands.`;
  if (feed.value >= (feed.threshold ?? 0))
    return `The feed of ${dealer} is held because its prices collapsed; the claim stands.`;
  return `The feed of ${dealer} has ${count(numberOf(step, "feed_vins"), "VIN")}, usually ${numberOf(step, "usual_vins")}, and lacks this one; the claim stands.`;
}

const claimEndedText = (step: Finding, dealer: string): string =>
  step.rule === "silent_dealer"
    ? `${dealer} has delivered nothing for ${count(numberOf(step, "days_without_feed"), "day")}; ${step.facts[0]?.threshold === null ? "an operator ended its claims" : "its claim ends"}.`
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
const stepOf = (step: Finding, dealer: string): EvidenceStep => ({
  ...step,
  text: step.event === "issue" ? "" : sentences[step.event](step, dealer),
});

/** Returns an issue as a step. */
function issueStep({ reason, ...step }: IssueFinding): EvidenceStep {
  const [value] = step.changes;
  const days = numberOf(step, "repeated_days");
  const stated = `${value?.field} "${valueText(value?.before ?? null)}"`;
  const repeated = days === 1 ? "" : `, on ${count(days, "day")}`;
  return {
    ...step,
    text: `Row ${step.source?.row} of ${step.source?.file} states ${stated}: ${reason}${repeated}.${because(step)}`,
  };
}

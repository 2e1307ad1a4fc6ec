/** Evidence for operation `getEvidence`: every observation, claim and decision about a VIN, each with its rule and its source, in the order of days. */
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf } from "../../contract/types.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { claimFindings, issueFindings } from "./claim-steps.ts";
import { confirm, decisionsOf } from "./decisions.ts";
import { issueStep, stepOf } from "./sentences.ts";
import { type EvidenceStep, readVinHistory } from "./vin-history.ts";

type Evidence = AnswerOf<"getEvidence">["data"];

/** The order of the steps of a day: what feeds stated comes before what followed from it. */
const eventOrder: readonly EvidenceStep["event"][] = [
  ...(["issue", "claimed", "changed", "unconfirmed", "claim_ended"] as const),
  ...(["ended", "missing", "sold", "listed", "returned", "kept"] as const),
];

const placeOf = ({ event }: EvidenceStep): number => eventOrder.indexOf(event);

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
  const findings = [...claimFindings(history), ...(await confirm(decisions, version))];
  const nameOf = (id: string | null): string => `${version.dealers.nameOf(id ?? "") ?? id}`;
  const steps = [
    ...issueFindings(history).map(issueStep),
    ...findings.map((finding) => stepOf(finding, nameOf(finding.dealer_id))),
  ].sort((a, b) => (a.day === b.day ? placeOf(a) - placeOf(b) : a.day < b.day ? -1 : 1));
  return { data: { vin, status, steps: steps.slice(-limit) }, total: steps.length };
}

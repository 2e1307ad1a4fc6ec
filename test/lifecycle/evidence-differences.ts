/** Compares the evidence about VINs with the oracle: claims, values, owners and states of each day. */
import { isDeepStrictEqual } from "node:util";
import { currentManifest } from "../../src/lake/manifest.ts";
import { explainVin } from "../../src/query/evidence/evidence.ts";
import type { EvidenceStep } from "../../src/query/evidence/vin-history.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import type { Feeds } from "../support/lakes/feeds.ts";
import type { OracleDay, OracleListing } from "./oracle.ts";

type Lines = readonly string[];

/** Returns the differences of the evidence about the VINs with the most events. */
export async function evidenceDifferences(
  lake: string,
  expectedDays: readonly OracleDay[],
  feeds: ReadonlyMap<string, Feeds>,
  vinsMax: number,
): Promise<Lines> {
  const events = eventsByVin(expectedDays);
  const vins = [...events].sort(([, one], [, other]) => other.length - one.length).slice(0, vinsMax);
  const version = await LakeVersion.open(lake, (await currentManifest(lake))?.version ?? "", {
    hasServingFiles: false,
  });
  const differences: string[] = [];
  try {
    for (const [vin, expected] of vins) {
      const { steps, status } = (await explainVin(vin.toLowerCase(), 1000, version)).data;
      const compare = (what: string, found: unknown, wanted: unknown): void => {
        if (!isDeepStrictEqual(found, wanted))
          differences.push(`${vin} ${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
      };
      compare("decisions", decisionLines(steps), expected);
      compare("claims", claimLines(steps, expectedDays), expectedClaimLines(vin, expectedDays));
      compare("numbers", numberLines(steps), expectedNumberLines(vin, expectedDays));
      compare("status", status, statusAfter(expected));
      compare(
        "confirmed",
        steps.filter(({ is_confirmed }) => is_confirmed === false),
        [],
      );
      compare(
        "unordered",
        steps.filter(({ day }, index) => day < (steps[index - 1]?.day ?? "")),
        [],
      );
      compare(
        "sources",
        steps.filter((step) => !isSource(vin, step, feeds)),
        [],
      );
    }
  } finally {
    version.close();
  }
  return differences;
}

/** Returns the state changes of each VIN's listings, as the oracle has them. */
function eventsByVin(days: readonly OracleDay[]): ReadonlyMap<string, Lines> {
  const events = new Map<string, string[]>();
  const add = (vin: string, line: string): void => void events.set(vin, [...(events.get(vin) ?? []), line]);
  let open: ReadonlyMap<string, { readonly periodId: number; readonly isMissing: boolean }> = new Map();
  for (const { day, active, missing, sold, ended } of days) {
    for (const { vin, dealer } of ended) add(vin, `${day} ended ${dealer}`);
    for (const { vin, dealer } of sold) add(vin, `${day} sold ${dealer}`);
    for (const { vin, dealer } of missing) if (open.get(vin)?.isMissing === false) add(vin, `${day} missing ${dealer}`);
    for (const { vin, dealer, periodId } of active) {
      const before = open.get(vin);
      if (before?.periodId !== periodId) add(vin, `${day} listed ${dealer}`);
      else if (before.isMissing) add(vin, `${day} returned ${dealer}`);
    }
    const stateOf =
      (isMissing: boolean) =>
      ({ vin, periodId }: OracleListing) =>
        [vin, { periodId, isMissing }] as const;
    open = new Map([...active.map(stateOf(false)), ...missing.map(stateOf(true))]);
  }
  return events;
}

const decisionLines = (steps: readonly EvidenceStep[]): Lines =>
  steps
    .filter(({ event }) => ["listed", "returned", "missing", "sold", "ended"].includes(event))
    .map(({ day, event, dealer_id }) => `${day} ${event} ${dealer_id}`);

/** Returns what the steps of sold and ended listings count, beside the thresholds. */
const numberLines = (steps: readonly EvidenceStep[]): Lines =>
  steps
    .filter(({ event, rule }) => (event === "sold" || event === "ended") && rule !== "superseded")
    .map(({ day, event, facts }) => `${day} ${event} ${facts.map((fact) => Object.values(fact).join(" ")).join(", ")}`);

const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 86_400_000;

function expectedNumberLines(vin: string, days: readonly OracleDay[]): Lines {
  return days.flatMap(({ day, sold, ended }) => {
    const of = (event: "sold" | "ended") => (one: OracleListing) => {
      const isSold = event === "sold";
      const facts: readonly (readonly [string, number, number | null])[] = [
        ["days_absent", daysBetween(one.lastSeen, day), isSold ? 3 : null],
        ["feeds_without", one.feedsWithout, isSold ? 3 : null],
        ["days_seen", one.daysSeen, isSold ? 2 : null],
        ...(isSold ? [] : [["days_missing", daysBetween(one.missingSince ?? day, day), 90] as const]),
      ];
      return `${day} ${event} ${facts.map((fact) => fact.join(" ")).join(", ")}`;
    };
    const isOf = (one: OracleListing): boolean => one.vin === vin;
    return [
      ...sold.filter(isOf).map(of("sold")),
      // Another dealer's claim ends a listing, a missing one too, by another rule.
      ...ended.filter((one) => isOf(one) && daysBetween(one.missingSince ?? day, day) >= 90).map(of("ended")),
    ];
  });
}

function statusAfter(events: Lines): string {
  const event = events.at(-1)?.split(" ")[1] ?? "";
  return event === "listed" || event === "returned" ? "active" : event;
}

/** Returns each claim of each day with its values, as the steps imply: `day dealer price miles confirmed`. */
function claimLines(steps: readonly EvidenceStep[], days: readonly OracleDay[]): Lines {
  const claims = new Map<string, Record<string, unknown>>();
  return days.flatMap(({ day }) => {
    for (const step of steps.filter((one) => one.day === day)) {
      const dealer = step.dealer_id ?? "";
      const values = Object.fromEntries(step.changes.map(({ field, after }) => [field, after]));
      if (step.event === "claimed") claims.set(dealer, values);
      if (step.event === "changed") claims.set(dealer, { ...claims.get(dealer), ...values });
      if (step.event === "claim_ended") claims.delete(dealer);
    }
    const isUnconfirmed = (dealer: string): boolean =>
      steps.some(
        (step) =>
          step.event === "unconfirmed" &&
          step.dealer_id === dealer &&
          step.day <= day &&
          day <= (step.last_day ?? step.day),
      );
    return [...claims]
      .map(([dealer, { price = null, miles = null }]) => `${day} ${dealer} ${price} ${miles} ${!isUnconfirmed(dealer)}`)
      .sort();
  });
}

const expectedClaimLines = (vin: string, days: readonly OracleDay[]): Lines =>
  days.flatMap(({ day, claims }) =>
    claims
      .filter(({ sighting }) => sighting.vin === vin)
      .map(
        ({ sighting: { dealer, price, miles }, lastSeen }) => `${day} ${dealer} ${price} ${miles} ${lastSeen === day}`,
      )
      .sort(),
  );

/** Returns whether the feed has a row of the VIN and dealer where a step says so; true for steps without a source. */
function isSource(vin: string, { event, dealer_id, source }: EvidenceStep, feeds: ReadonlyMap<string, Feeds>): boolean {
  if (source === null) return event !== "claimed" && event !== "changed";
  const row = feeds.get(source.day)?.inventory?.[source.row - 1];
  return (
    String(row?.vin).trim().toUpperCase() === vin && row?.dealer_id === dealer_id && source.file.startsWith("inventory")
  );
}

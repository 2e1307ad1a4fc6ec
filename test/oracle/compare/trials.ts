/** Trials: random requests to a lake of some kind, each answered in both ways and by the oracle. */
import { plusDays } from "../../../src/base/day.ts";
import { projectPath } from "../../../src/base/project-files.ts";
import { readMapping } from "../../../src/ingest/mapping/mapping.ts";
import { Chance } from "../../support/chance.ts";
import { type BothWays, openBothWays } from "../../support/implementations.ts";
import { dealerIdOf, realCsvPath, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import { type Scope, withScope } from "../../support/scope.ts";
import { type OracleInventory, readInventory } from "../answers/inventory.ts";
import type { RandomFeedsExtent } from "../random-lake/feeds.ts";
import { createRandomLake, createRespelledLake, growLake } from "../random-lake/lakes.ts";
import { type RandomRequest, randomFacets, randomGroups, randomRequests } from "../random-requests/requests.ts";
import { compareLookUps, compareThreeWays } from "./both-ways.ts";
import type { ComparisonSummary } from "./oracle.ts";

export interface Trial {
  readonly seed: number;
  /** Number of requests. */
  readonly draws: number;
}

type LakeTrial = Trial & RandomFeedsExtent;

export interface TrialResult extends ComparisonSummary {
  /** Number of versions that answered. */
  readonly versions: number;
  /** Number of listings looked up by id or VIN. */
  readonly lookUps: number;
  /** Parameters of all requests. */
  readonly parameters: ReadonlySet<string>;
}

/** One request in three is for facets; one listing is looked up per ten requests. */
const facetsEvery = 3;
const lookUpEvery = 10;

/** Returns a trial in a lake that is created for it. */
const trialIn =
  <T extends Trial>(create: (scope: Scope, trial: T) => Promise<string>) =>
  (trial: T): Promise<TrialResult> =>
    withScope(async (scope) => compareLake(await create(scope, trial), trial));

/** Compares answers from a lake of many days, ingested at once. */
export const compareVariedLake = trialIn<LakeTrial>(
  async (scope, extent) => (await createRandomLake(scope, extent)).lake,
);

/** Compares answers from a lake with values in two spellings. */
export const compareRespelledLake = trialIn<LakeTrial>(createRespelledLake);

/** Compares answers from the sample. */
export const compareSample = trialIn(async (scope) => (await createLake(scope)).lake);

/** Compares answers from a lake of real feeds. */
export const compareRealLake = trialIn(async (scope) => {
  const mapping = await readMapping(projectPath("data/mappings/usa_cars.json"));
  return (await createLake(scope, realCsvPath, { mapping })).lake;
});

/** Compares answers from a lake of ten days of cars with few distinct values; five of them are sold and relisted. */
export const compareFewValues = trialIn(async (scope) => {
  const folder = await temporaryFolder(scope);
  const equipment = ["apple_carplay|heated_seats", "apple_carplay", "sunroof", ""];
  const dealers = [{ dealer_id: dealerIdOf(1), name: "North", state: "CA" }];
  for (let day = 0; day < 10; day += 1) {
    const inventory = Array.from({ length: 80 }, (_, n) => n)
      .filter((n) => n % 16 !== 3 || day < 2 || day > 7)
      .map((n) => ({
        vin: vinOf(n),
        dealer_id: dealerIdOf(1),
        make: "Honda",
        model: n % 3 === 0 ? "Civic" : "Accord",
        price: 20_000 + 100 * (n % 7),
        features: equipment[n % 4] ?? "",
        options_packages: n % 5 === 0 ? "A1|B2" : "",
      }));
    await writeFeeds(folder, plusDays("2026-03-20", day), { dealers, inventory });
  }
  return (await createLake(scope, folder)).lake;
});

/** Compares answers from a lake after each ingested day. */
export function compareGrowingLake({ draws, ...extent }: LakeTrial): Promise<TrialResult> {
  return withScope(async (scope) => {
    const outcomes: TrialResult[] = [];
    for await (const { lake } of growLake(scope, extent)) {
      const day = outcomes.length;
      const share = Math.floor(draws / extent.days) + Number(day < draws % extent.days);
      outcomes.push(await compareLake(lake, { seed: extent.seed + day, draws: share }));
    }
    return sumResults(outcomes);
  });
}

/** Compares answers from the published version of a lake; fails with the first difference and the trial that found it. */
const compareLake = (lake: string, trial: Trial): Promise<TrialResult> =>
  withScope(async (scope) => compareTrial(await openBothWays(scope, lake), await readInventory(lake), trial));

/** Compares answers of a version that is open in both ways; fails with the first difference and the trial that found it. */
export async function compareTrial(
  both: BothWays,
  inventory: OracleInventory,
  { seed, draws }: Trial,
): Promise<TrialResult> {
  const facets = Math.ceil(draws / facetsEvery);
  const requests: readonly RandomRequest[] = [
    ...randomRequests(inventory, { seed, count: draws - facets }),
    ...randomFacets(inventory, { seed, count: Math.ceil(facets / 2) }),
    ...randomGroups(inventory, { seed, count: Math.floor(facets / 2) }),
  ];
  try {
    const summary = await compareThreeWays(both, inventory, requests);
    const lookUps = await compareLookUps(both, inventory, new Chance(seed), Math.ceil(draws / lookUpEvery));
    return {
      ...summary,
      versions: 1,
      lookUps,
      parameters: new Set(requests.flatMap(({ query }) => [...query.keys()])),
    };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw new Error(`version ${inventory.version}, seed ${seed}, ${draws} draws: ${message}`, { cause: thrown });
  }
}

/** Returns the sum of several results. */
export function sumResults(outcomes: readonly TrialResult[]): TrialResult {
  const sum = (count: (outcome: TrialResult) => number): number =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return {
    requests: sum(({ requests }) => requests),
    found: sum(({ found }) => found),
    refused: sum(({ refused }) => refused),
    compared: sum(({ compared }) => compared),
    versions: sum(({ versions }) => versions),
    lookUps: sum(({ lookUps }) => lookUps),
    parameters: new Set(outcomes.flatMap(({ parameters }) => [...parameters])),
  };
}

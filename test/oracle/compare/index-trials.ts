/**
 * Random requests to several kinds of lakes, each answered by the index and row store, by Parquet and by the oracle.
 */
import { projectPath } from "../../../src/base/project-files.ts";
import { readMapping } from "../../../src/ingest/feed/mapping.ts";
import { Chance } from "../../support/chance.ts";
import { openBothWays } from "../../support/implementations.ts";
import { realCsvPath } from "../../support/lakes/feeds.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { withScope } from "../../support/scope.ts";
import { readInventory } from "../answers/inventory.ts";
import type { RandomFeedsExtent } from "../random-lake/feeds.ts";
import { createRandomLake, createRespelledLake, growLake } from "../random-lake/lakes.ts";
import { type RandomRequest, randomFacets, randomRequests } from "../random-requests/requests.ts";
import type { ComparisonSummary } from "./oracle.ts";
import { compareLookUps, compareThreeWays } from "./three-ways.ts";

export interface Trial {
  readonly seed: number;
  /** Number of requests. */
  readonly draws: number;
}

export interface TrialResult extends ComparisonSummary {
  /** Number of versions that answered. */
  readonly versions: number;
  /** Number of listings looked up by id or VIN. */
  readonly lookUps: number;
  /** Parameters of all requests. */
  readonly parameters: ReadonlySet<string>;
}

/** One request in three is for facets; one listing is looked up per ten requests. */
const [facetsEvery, lookUpEvery] = [3, 10];

/** Compares answers from a lake of many days, ingested at once. */
export function compareVariedLake({ draws, ...extent }: Trial & RandomFeedsExtent): Promise<TrialResult> {
  return withScope(async (scope) =>
    compareLake((await createRandomLake(scope, extent)).lake, { seed: extent.seed, draws }),
  );
}

/** Compares answers from a lake with values in two spellings. */
export function compareRespelledLake({ draws, ...extent }: Trial & RandomFeedsExtent): Promise<TrialResult> {
  return withScope(async (scope) =>
    compareLake(await createRespelledLake(scope, extent), { seed: extent.seed, draws }),
  );
}

/** Compares answers from a lake after each ingested day. */
export function compareGrowingLake({ draws, ...extent }: Trial & RandomFeedsExtent): Promise<TrialResult> {
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

/** Compares answers from the sample. */
export function compareSample(trial: Trial): Promise<TrialResult> {
  return withScope(async (scope) => compareLake((await createLake(scope)).lake, trial));
}

/** Compares answers from a lake of real feeds. */
export function compareRealLake(trial: Trial): Promise<TrialResult> {
  return withScope(async (scope) => {
    const mapping = await readMapping(projectPath("data/mappings/usa_cars.json"));
    return compareLake((await createLake(scope, realCsvPath, { mapping })).lake, trial);
  });
}

/**
 * Compares answers from the published version of a lake; fails with the first difference and the trial that found it.
 */
async function compareLake(lake: string, { seed, draws }: Trial): Promise<TrialResult> {
  return withScope(async (scope) => {
    const inventory = await readInventory(lake);
    const versions = await openBothWays(scope, lake);
    const facets = Math.ceil(draws / facetsEvery);
    const requests: readonly RandomRequest[] = [
      ...randomRequests(inventory, { seed, count: draws - facets }),
      ...randomFacets(inventory, { seed, count: facets }),
    ];
    try {
      const summary = await compareThreeWays(versions, inventory, requests);
      const lookUps = await compareLookUps(versions, inventory, new Chance(seed), Math.ceil(draws / lookUpEvery));
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
  });
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

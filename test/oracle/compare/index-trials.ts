/** Random requests to lakes of four kinds, each answered by the search index and row store, by the Parquet files, and by the oracle. */
import { existsSync } from "node:fs";
import { projectPath } from "../../../src/base/project-files.ts";
import { readMapping } from "../../../src/ingest/feed/mapping.ts";
import { bothVersionsOf } from "../../support/implementations.ts";
import { lakeOf } from "../../support/lakes/lakes.ts";
import { withScope } from "../../support/scope.ts";
import { readMarket } from "../answers/market.ts";
import { Chance } from "../random-market/chance.ts";
import type { RandomMarketExtent } from "../random-market/feeds.ts";
import { growingLake, respelledLake, variedLake } from "../random-market/lakes.ts";
import { type Request, randomFacets, randomRequests } from "../random-requests/requests.ts";
import type { Agreed } from "./agree.ts";
import { agreeThreeWays, lookUpBothWays } from "./three-ways.ts";

export interface Trial {
  readonly seed: number;
  /** How many requests are drawn. */
  readonly draws: number;
}

export interface TrialResult extends Agreed {
  /** Versions that were asked. */
  readonly versions: number;
  /** Listings that were looked up by id or VIN. */
  readonly lookUps: number;
  /** Parameters that were given. */
  readonly parameters: ReadonlySet<string>;
}

/** One of so many requests is for facets, and for so many requests a listing is looked up. */
const [facetsEvery, lookUpEvery] = [3, 10];

/** Asks a lake that a random market of many days was ingested into at once. */
export function askVaried({ draws, ...extent }: Trial & RandomMarketExtent): Promise<TrialResult> {
  return withScope(async (scope) => askLake((await variedLake(scope, extent)).lake, { seed: extent.seed, draws }));
}

/** Asks a lake that holds values in two spellings. */
export function askRespelled({ draws, ...extent }: Trial & RandomMarketExtent): Promise<TrialResult> {
  return withScope(async (scope) => askLake(await respelledLake(scope, extent), { seed: extent.seed, draws }));
}

/** Asks a lake into which a random market is ingested day by day, after each day. */
export function askGrown({ draws, ...extent }: Trial & RandomMarketExtent): Promise<TrialResult> {
  return withScope(async (scope) => {
    const outcomes: TrialResult[] = [];
    for await (const { lake } of growingLake(scope, extent)) {
      const day = outcomes.length;
      const share = Math.floor(draws / extent.days) + Number(day < draws % extent.days);
      outcomes.push(await askLake(lake, { seed: extent.seed + day, draws: share }));
    }
    return sumOf(outcomes);
  });
}

/** Asks the sample. */
export function askSample(trial: Trial): Promise<TrialResult> {
  return withScope(async (scope) => askLake((await lakeOf(scope)).lake, trial));
}

const realPath = projectPath("../shared/data/real/usa_cars.csv");

/** Whether there are real feeds to ask. */
export const hasReal = existsSync(realPath);

/** Asks a lake of real feeds. */
export function askReal(trial: Trial): Promise<TrialResult> {
  return withScope(async (scope) => {
    const mapping = await readMapping(projectPath("data/mappings/usa_cars.json"));
    return askLake((await lakeOf(scope, realPath, { mapping })).lake, trial);
  });
}

/** Asks the published version of a lake; fails with the first difference, which names the trial. */
async function askLake(lake: string, { seed, draws }: Trial): Promise<TrialResult> {
  return withScope(async (scope) => {
    const market = await readMarket(lake);
    const versions = await bothVersionsOf(scope, lake);
    const facets = Math.ceil(draws / facetsEvery);
    const requests: readonly Request[] = [
      ...randomRequests(market, { seed, count: draws - facets }),
      ...randomFacets(market, { seed, count: facets }),
    ];
    try {
      const agreed = await agreeThreeWays(versions, market, requests);
      const lookUps = await lookUpBothWays(versions, market, new Chance(seed), Math.ceil(draws / lookUpEvery));
      return {
        ...agreed,
        versions: 1,
        lookUps,
        parameters: new Set(requests.flatMap(({ query }) => [...query.keys()])),
      };
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      throw new Error(`version ${market.version}, seed ${seed}, ${draws} draws: ${message}`, { cause: thrown });
    }
  });
}

/** Adds outcomes up. */
export function sumOf(outcomes: readonly TrialResult[]): TrialResult {
  const sum = (count: (outcome: TrialResult) => number): number =>
    outcomes.reduce((total, one) => total + count(one), 0);
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

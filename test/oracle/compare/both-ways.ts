/** Compares the answers of a lake in both ways (`test/support/implementations.ts`) with each other, and with the oracle's. */
import assert from "node:assert/strict";
import type { Chance } from "../../support/chance.ts";
import type { BothWays } from "../../support/implementations.ts";
import type { OracleInventory } from "../answers/inventory.ts";
import { pathOf } from "../random-requests/query.ts";
import type { RandomRequest } from "../random-requests/requests.ts";
import { differenceIn } from "./differences.ts";
import {
  addComparison,
  type ComparisonSummary,
  forEachConcurrently,
  nothingCompared,
  oracleComparison,
} from "./oracle.ts";

/** Compares each request's answers three ways. Fails with the first difference and the side that it is on. */
export async function compareThreeWays(
  { served, parquet, assertNoFallback }: BothWays,
  inventory: OracleInventory,
  requests: Iterable<RandomRequest>,
): Promise<ComparisonSummary> {
  let summary = nothingCompared;
  await forEachConcurrently(requests, async (request) => {
    const path = pathOf(request.operation, request.query);
    const answers = await Promise.all([served.get(path), parquet.get(path)]);
    const compare = oracleComparison(inventory, request);
    const ofServed = compare(answers[0]);
    const ofParquet = compare(answers[1]);
    const differences = [
      labelled("the serving files against the oracle", ofServed.difference),
      labelled("the Parquet files against the oracle", ofParquet.difference),
      labelled(
        `the serving files (served) against the Parquet files (expected), ${path}`,
        differenceIn("body", answers[0].body, answers[1].body),
      ),
    ].filter((difference) => difference !== undefined);
    assert.ok(differences.length === 0, differences.join("\n"));
    summary = addComparison(summary, ofServed);
  });
  assertNoFallback();
  return summary;
}

/** Looks up random listings by id and VIN in both ways; fails with the first difference. */
export async function compareLookUps(
  both: BothWays,
  { all }: OracleInventory,
  chance: Chance,
  count: number,
): Promise<number> {
  const paths = Array.from({ length: count }, () => {
    const { id, vin } = chance.pick(all);
    const path = chance.pick([`/v1/listings/${id}`, `/v1/vins/${vin}`]);
    return `${path}${chance.pick(["", "?include=options", "?include=options,price_history"])}`;
  });
  await assertSameBothWays(paths, both);
  return paths.length;
}

/** Fails unless paths have the same status and body in both ways; `when` begins the message. */
export async function assertSameBothWays(
  paths: readonly string[],
  { served, parquet, assertNoFallback }: BothWays,
  when = "",
): Promise<void> {
  await forEachConcurrently(paths, async (path) => {
    const [answer, expected] = await Promise.all([served.get(path), parquet.get(path)]);
    const difference = differenceIn("body", [answer.status, answer.body], [expected.status, expected.body]);
    assert.ok(
      difference === undefined,
      `${when} ${path}, the serving files against the Parquet files (expected)\n${difference}`,
    );
  });
  assertNoFallback();
}

const labelled = (what: string, difference: string | undefined): string | undefined =>
  difference && `${what}: ${difference}`;

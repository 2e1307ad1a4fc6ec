/** Compares the answers of the serving files, the Parquet files and the oracle. */
import assert from "node:assert/strict";
import type { Chance } from "../../support/chance.ts";
import { type BothVersions, clientOf } from "../../support/implementations.ts";
import type { OracleInventory } from "../answers/inventory.ts";
import { pathOf } from "../random-requests/query.ts";
import type { RandomRequest } from "../random-requests/requests.ts";
import { differenceIn } from "./differences.ts";
import { type ApiClient, type ComparisonSummary, forEachConcurrently, oracleComparison } from "./oracle.ts";

/** Compares each request's answers three ways. Fails with the first difference and the side that it is on. */
export async function compareThreeWays(
  versions: BothVersions,
  inventory: OracleInventory,
  requests: Iterable<RandomRequest>,
): Promise<ComparisonSummary> {
  const [served, parquet] = [clientOf(versions.served), clientOf(versions.parquet)];
  let summary: ComparisonSummary = { requests: 0, found: 0, refused: 0, compared: 0 };
  await forEachConcurrently(requests, async (request) => {
    const path = pathOf(request.operation, request.query);
    const answers = await Promise.all([served.get(path), parquet.get(path)]);
    const compare = oracleComparison(inventory, request);
    const [ofServed, ofParquet] = [compare(answers[0]), compare(answers[1])];
    const { total, compared, isRefused } = ofServed;
    const differences = [
      labelled("the serving files against the oracle", ofServed.difference),
      labelled("the Parquet files against the oracle", ofParquet.difference),
      labelled(
        `the serving files (served) against the Parquet files (expected), ${path}`,
        differenceIn("body", answers[0].body, answers[1].body),
      ),
    ].filter((difference) => difference !== undefined);
    assert.ok(differences.length === 0, differences.join("\n"));
    summary = {
      requests: summary.requests + 1,
      found: summary.found + Number(total > 0),
      refused: summary.refused + Number(isRefused === true),
      compared: summary.compared + compared,
    };
  });
  versions.assertNoFallback();
  return summary;
}

/** Looks up random listings by id and VIN in both implementations; fails with the first difference. */
export async function compareLookUps(
  versions: BothVersions,
  { all }: OracleInventory,
  chance: Chance,
  count: number,
): Promise<number> {
  const [served, parquet] = [clientOf(versions.served), clientOf(versions.parquet)];
  const paths = Array.from({ length: count }, () => {
    const { id, vin } = chance.pick(all);
    const path = chance.pick([`/v1/listings/${id}`, `/v1/vins/${vin}`]);
    return `${path}${chance.pick(["", "?include=options", "?include=options,price_history"])}`;
  });
  await forEachConcurrently(paths, (path) => assertSameBothWays(path, served, parquet));
  versions.assertNoFallback();
  return paths.length;
}

/** Fails unless two implementations answer a path with the same status and body; `when` begins the message. */
export async function assertSameBothWays(
  path: string,
  served: ApiClient,
  parquet: ApiClient,
  when = "",
): Promise<void> {
  const [answer, expected] = await Promise.all([served.get(path), parquet.get(path)]);
  const difference = differenceIn("answer", answer, expected);
  assert.ok(
    difference === undefined,
    `${when} ${path}, the serving files against the Parquet files (expected)\n${difference}`,
  );
}

const labelled = (what: string, difference: string | undefined): string | undefined =>
  difference && `${what}: ${difference}`;

/** Whether the serving files, the Parquet files and the oracle answer the same requests alike. */
import assert from "node:assert/strict";
import { answersOf, type BothVersions } from "../../support/implementations.ts";
import type { Market } from "../answers/market.ts";
import type { Chance } from "../random-market/chance.ts";
import { pathOf } from "../random-requests/query.ts";
import type { Request } from "../random-requests/requests.ts";
import { type Agreed, type Answering, eachOf, oracleOf } from "./agree.ts";
import { differenceIn } from "./differences.ts";

/**
 * Answers each request in three ways, and facets from the index both as it counts few matches and as it counts many; fails with the first
 * that is answered differently, and says by which.
 */
export async function agreeThreeWays(
  versions: BothVersions,
  market: Market,
  requests: Iterable<Request>,
): Promise<Agreed> {
  const [served, parquet] = [answersOf(versions.served), answersOf(versions.parquet)];
  const counted = answersOf(versions.counted);
  let agreed: Agreed = { requests: 0, found: 0, refused: 0, compared: 0 };
  await eachOf(requests, async (request) => {
    const path = pathOf(request.operation, request.query);
    const answers = await Promise.all([served.get(path), parquet.get(path)]);
    const compare = oracleOf(market, request);
    const [ofServed, ofParquet] = [compare(answers[0]), compare(answers[1])];
    const ofCounted = request.operation === "getFacets" ? compare(await counted.get(path)) : undefined;
    const { total, compared, isRefused } = ofServed;
    const differences = [
      named("the serving files against the oracle", ofServed.difference),
      named("the index, counted by the engine, against the oracle", ofCounted?.difference),
      named("the Parquet files against the oracle", ofParquet.difference),
      named(
        `the serving files (served) against the Parquet files (expected), ${path}`,
        differenceIn("body", answers[0].body, answers[1].body),
      ),
    ].filter((difference) => difference !== undefined);
    assert.ok(differences.length === 0, differences.join("\n"));
    agreed = {
      requests: agreed.requests + 1,
      found: agreed.found + Number(total > 0),
      refused: agreed.refused + Number(isRefused === true),
      compared: agreed.compared + compared,
    };
  });
  versions.confirm();
  return agreed;
}

/** Looks random listings up by id and by VIN in both implementations; fails with the first that they answer differently. */
export async function lookUpBothWays(
  versions: BothVersions,
  { everywhere }: Market,
  chance: Chance,
  count: number,
): Promise<number> {
  const [served, parquet] = [answersOf(versions.served), answersOf(versions.parquet)];
  const paths = Array.from({ length: count }, () => {
    const { id, vin } = chance.pick(everywhere);
    const path = chance.pick([`/v1/listings/${id}`, `/v1/vins/${vin}`]);
    return `${path}${chance.pick(["", "?include=options", "?include=options,price_history"])}`;
  });
  await eachOf(paths, (path) => sameBothWays(path, served, parquet));
  versions.confirm();
  return paths.length;
}

/** Fails, saying when, unless two implementations answer a path with the same status and body. */
export async function sameBothWays(path: string, served: Answering, parquet: Answering, when = ""): Promise<void> {
  const [answer, expected] = await Promise.all([served.get(path), parquet.get(path)]);
  const difference = differenceIn("answer", answer, expected);
  assert.ok(
    difference === undefined,
    `${when} ${path}, the serving files against the Parquet files (expected)\n${difference}`,
  );
}

const named = (what: string, difference: string | undefined): string | undefined =>
  difference && `${what}: ${difference}`;

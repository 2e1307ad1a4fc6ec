/** Compares pages found in typed arrays with those that the engine finds by conditions with the same filters. */
import assert from "node:assert/strict";
import { decoderOf } from "../../../src/contract/decode.ts";
import { integerLiteral, sql } from "../../../src/db/sql.ts";
import { listingRow } from "../../../src/lake/served-columns.ts";
import { planSearch } from "../../../src/query/search.ts";
import type { LakeVersion } from "../../../src/serving/lake-version.ts";
import { splitPath } from "../../support/versions.ts";
import { pathOf } from "../random-requests/query.ts";
import type { RandomRequest } from "../random-requests/requests.ts";

/** Compares the number of matches and the listings of each page. Returns how many listings were compared. */
export async function compareWithConditions(version: LakeVersion, requests: Iterable<RandomRequest>): Promise<number> {
  let compared = 0;
  for (const { operation, query } of requests) {
    if (operation !== "searchListings") continue;
    const path = pathOf(operation, query);
    const plan = planSearch(decoderOf(operation)(splitPath(path)[1], {}).query, version);
    const { listings } = plan.mode;
    const { total, keys } = await plan.mode.listings.findPage(plan);
    const rows = await listings.read(keys, ["id"], (row) => ({ ...listingRow.decode(row, ["id"]), total }));
    const limit = sql`LIMIT ${integerLiteral(plan.limit)} OFFSET ${integerLiteral(plan.offset)}`;
    const found = await listings.runOverMatches(
      plan,
      (matches, listingsOf) =>
        sql`SELECT id, (count(*) OVER ())::INTEGER AS total FROM (${listingsOf(matches)}) ORDER BY sort_key ${limit}`,
    );
    assert.deepEqual(rows, found, path);
    compared += found.length;
  }
  return compared;
}

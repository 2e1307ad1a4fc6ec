/** Exports that the service writes itself, beside those that a process writes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { getAccount } from "../../../src/accounts/account.ts";
import { exportFormats } from "../../../src/formats/table-formats.ts";
import { inAccountsFile } from "../../support/accounts.ts";
import { extentOf, skipInShortRun } from "../../support/extent.ts";
import { startService } from "../../support/http/service.ts";
import { createLake, smallDisk, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);
const folder = await temporaryFolder(fileScope);
const client = await startService(fileScope, lake, { exports: { folder } });
const slow = await startService(fileScope, lake, { exports: { folder, quickRowsMax: 0 } });

interface Download {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

async function download(query: string, { url, customer } = client): Promise<Download> {
  const response = await fetch(`${url}/v1/exports?${query}`, { headers: customer.bearer });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

test("a small export has the same bytes, whether the service or a process writes it", {
  skip: skipInShortRun,
}, async () => {
  const queries = [
    "make=Toyota&sort=-price&include=options",
    "snapshot_date=2026-11-18&fields=default,features,options_packages,pricing&csv_raw=true",
    "postal_code=90012&radius=400&sort=distance&include=price_history&fields=days_seen,distance_miles,latitude,keywords",
    "snapshot_date_from=2026-11-18&snapshot_date_to=2026-11-19&make=Ford",
  ];
  // Each format writes the first two searches and, in the short run, one of the others; else every second one.
  for (const [n, query] of [...queries, "inventory_status=sold", "make=None"].entries())
    for (const format of exportFormats.filter((_, index) => n < 2 || (n + index) % extentOf(10, 2) === 0)) {
      const path = `${query}&format=${format}`;
      const one = await download(path);
      const other = await download(path, slow);
      assert.deepEqual([one.status, one.headers.get("ETag")], [200, other.headers.get("ETag")], path);
      assert.ok(one.body.equals(other.body), path);
    }
});

test("a full disk refuses an export, which is not charged", async (t) => {
  const disk = await smallDisk(t, "16k");
  if (disk === undefined) return t.skip("mounting a tmpfs needs root");
  for (const quickRowsMax of [0, 1_000]) {
    const full = await startService(t, lake, { exports: { folder: disk, quickRowsMax } });
    const { status, code } = await full.getError("/v1/exports?format=ndjson");
    assert.deepEqual([status, code], [503, "data_unavailable"]);
    const { accountId } = full.customer;
    const { balanceMicros } = await inAccountsFile(full.accounts, (database) =>
      getAccount(database, accountId, "2026-11"),
    );
    assert.equal(balanceMicros, 1_000_000_000);
    await full.stop();
  }
});

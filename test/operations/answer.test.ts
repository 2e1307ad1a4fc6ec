/** The charge of a page is written while its rows are read. A call that fails after it is refunded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Identity } from "../../src/accounts/accounts.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { textIn } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import type { SiteServices } from "../../src/http/service/service-state.ts";
import { Admission } from "../../src/operations/admission.ts";
import { answererOf } from "../../src/operations/answer.ts";
import { ResultCache } from "../../src/operations/result-cache.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { sampleService, startService } from "../support/http/service.ts";

const { lake } = await sampleService();

test("a page whose body cannot be built is refunded, and its idempotency key is free again", async (t) => {
  let services: SiteServices | undefined;
  const service = await startService(t, lake, {
    mountSite: (_, mounted) => {
      services = mounted;
    },
  });
  assert.ok(services !== undefined);
  const { accounts, current } = services;
  const customer = createCustomer(service.accounts);
  const identity: Identity = await accounts.identify(customer.key, "127.0.0.1");
  const answer = answererOf({
    ...{ accounts, current, resultCache: new ResultCache(0), admission: new Admission(accounts, {}) },
  });
  const call = (requestId: string, bodyOf: () => string) =>
    answer(
      {
        identity,
        requestId,
        arrivedAtMs: performance.now(),
        signal: new AbortController().signal,
        idempotencyKey: "k",
      },
      { id: "searchListings", querystring: "make=toyota&limit=5" },
      () => ({ bodyOf }),
    );
  const entries = (): readonly string[] =>
    inAccountsFile(service.accounts, (database) =>
      database
        .all(
          sql`SELECT kind || ' ' || micros AS entry FROM entries WHERE account_id = ${customer.accountId} AND kind <> 'paid' ORDER BY entries.entry`,
        )
        .map((row) => textIn(row, "entry")),
    );

  const failed = call("first", () => {
    throw new RangeError("The row store is damaged.");
  });
  await assert.rejects(failed, RangeError);
  await eventually("the charge is refunded", async () => entries().length === 2);
  assert.deepEqual(entries(), ["charge -2000", "adjustment 2000"]);

  const answered = await call("second", () => "rows");
  assert.deepEqual(answered, { body: "rows", usage: { usageClass: "listing_search", micros: 2000 } });
  assert.deepEqual(entries(), ["charge -2000", "adjustment 2000", "charge -2000"]);
  assert.deepEqual(inAccountsFile(service.accounts, audit).faults, []);
});

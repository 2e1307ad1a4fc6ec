/** The charge of a call is posted once, when its answer is encoded. A call that fails costs nothing. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Identity } from "../../src/accounts/accounts.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { listUsage } from "../../src/accounts/ledger/usage.ts";
import { textIn } from "../../src/base/json.ts";
import { sql } from "../../src/db/sql.ts";
import type { SiteServices } from "../../src/http/service/service-state.ts";
import { Admission } from "../../src/operations/admission.ts";
import { answer } from "../../src/operations/answer.ts";
import { type Caller, clientOfSignal } from "../../src/operations/caller.ts";
import { ResponseCache } from "../../src/operations/response-cache.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { sampleService, startService } from "../support/http/service.ts";

const { lake } = await sampleService();

/** Starts a service with a customer; returns its calls, and the entries of its account beside the paid credit. */
async function openCalls(t: TestContext) {
  let mounted: SiteServices | undefined;
  const service = await startService(t, lake, {
    mountSite: (_, services) => {
      mounted = services;
    },
  });
  assert.ok(mounted !== undefined);
  const { accounts, current } = mounted;
  const customer = await createCustomer(service.accounts);
  const identity: Identity = await accounts.identify(customer.key, "127.0.0.1");
  const services = {
    accounts,
    current,
    responseCache: new ResponseCache(0),
    admission: new Admission(accounts, {}),
  };
  const callerNamed = (requestId: string): Caller => ({
    identity,
    requestId,
    arrivedAtMs: performance.now(),
    client: clientOfSignal(new AbortController().signal),
  });
  /** Returns the charge of a call, whose answer is encoded as `encode` does. */
  const call = async (
    requestId: string,
    encode: () => Promise<Buffer>,
    headers: Pick<Caller, "idempotencyKey" | "dataVersion"> = {},
  ) => {
    const request = { id: "searchListings", querystring: "make=toyota&limit=5&format=csv" } as const;
    const answered = await answer({ ...callerNamed(requestId), ...headers }, request, {
      ...services,
      encoder: { encode },
    });
    assert.ok(answered.content !== undefined);
    assert.equal(String(answered.content), "rows");
    return answered.usage;
  };
  const entries = (): Promise<readonly string[]> =>
    inAccountsFile(service.accounts, async (database) =>
      (
        await database.all(
          sql`SELECT kind || ' ' || micros AS entry FROM entries WHERE account_id = ${customer.accountId} AND kind <> 'paid' ORDER BY entries.entry`,
        )
      ).map((row) => textIn(row, "entry")),
    );
  const everyDay = { startDate: "2000-01-01", endDate: "2100-01-01", classes: undefined };
  const usage = () => accounts.administration.call(listUsage, customer.accountId, everyDay);
  return {
    accounts,
    callerNamed,
    call,
    entries,
    usage,
    held: () => accounts.heldBy(customer.accountId),
    audited: async () => (await inAccountsFile(service.accounts, audit)).faults,
    current,
  };
}

const fail = async (): Promise<never> => {
  throw new RangeError("The row store is damaged.");
};
const encode = async (): Promise<Buffer> => Buffer.from("rows");
const charged = { usageClass: "listing_search", micros: 2000 };

test("a call is in progress until its answer has been sent, or could not be", async (t) => {
  const { callerNamed, accounts } = await openCalls(t);
  const admission = new Admission(accounts, { concurrentRequests: 1 });
  const run = (sent?: Promise<void>): Promise<void> =>
    admission.run(
      callerNamed("sent"),
      "searchListings",
      async () => undefined,
      () => sent,
    );
  for (const fault of [undefined, new Error("The file is gone.")]) {
    let end = (): void => undefined;
    const sent = new Promise<void>((resolve, reject) => {
      end = () => (fault === undefined ? resolve() : reject(fault));
    });
    await run(sent);
    await assert.rejects(run(), { code: "concurrency_limit_exceeded" });
    end();
    await Promise.allSettled([sent]);
    await run();
  }
});

test("a call whose answer cannot be encoded is not charged, and counts neither as usage nor as spending", async (t) => {
  const { call, entries, usage, held, audited } = await openCalls(t);
  await assert.rejects(call("first", fail), RangeError);
  assert.deepEqual(await entries(), []);
  assert.deepEqual(await usage(), []);
  assert.equal(held(), 0);

  assert.deepEqual(await call("second", encode), charged);
  assert.deepEqual(
    (await usage()).map(({ requests, charged_micros }) => [requests, charged_micros]),
    [[1, 2000]],
  );
  assert.deepEqual(await audited(), []);
});

test("a call with an idempotency key is charged when it has been answered: repetitions of failed ones are not free", async (t) => {
  const { call, entries, audited } = await openCalls(t);
  const keyed = { idempotencyKey: "k" };
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const failed = call("first", () => ended.then(fail), keyed);
  assert.deepEqual(await call("second", encode, keyed), charged);
  end();
  await assert.rejects(failed, RangeError);
  assert.deepEqual(await call("third", encode, keyed), { ...charged, micros: 0 });
  assert.deepEqual(await entries(), ["charge -2000"]);
  assert.deepEqual(await audited(), []);
});

test("an idempotency key belongs to the version that a header names", async (t) => {
  const { call, current } = await openCalls(t);
  const dataVersion = await current.use(async ({ manifest }) => manifest.version);
  await call("first", encode, { idempotencyKey: "k" });
  await assert.rejects(call("second", encode, { idempotencyKey: "k", dataVersion }), {
    code: "idempotency_key_reused",
  });
});

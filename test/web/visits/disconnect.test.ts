/** Pages whose client disconnects. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { audit } from "../../../src/accounts/ledger/audit.ts";
import { createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { eventually } from "../../support/command-line.ts";
import { startService } from "../../support/http/service.ts";
import { createSlowLake, slowRequest, untilBusy } from "../../support/http/slow-request.ts";

test("the operations of a page whose client disconnects stop, and are not charged", async (t) => {
  const narrow = await startService(t, await createSlowLake(t), { sessions: 1, responseCacheBytes: 0, metricsPort: 0 });
  const customer = await createCustomer(narrow.accounts);
  const headers = { Cookie: `carquet-session=${await narrow.sessions.create({ accountId: customer.accountId })}` };
  const staying = Array.from({ length: 4 }, () => narrow.get(slowRequest, customer.bearer));
  const readMetrics = async (): Promise<string> => (await fetch(narrow.metricsUrl ?? "")).text();
  await untilBusy(narrow);
  const client = new AbortController();
  const leaving = Array.from({ length: 2 }, () =>
    assert.rejects(fetch(`${narrow.url}/market`, { headers, signal: client.signal })),
  );
  await eventually("the statements of the pages wait behind the others", async () =>
    /statements_waiting [5-9]\n/.test(await readMetrics()),
  );
  client.abort();
  await Promise.all([...leaving, ...staying]);
  await eventually("no statement waits or runs", async () => {
    const metrics = await readMetrics();
    assert.match(metrics, /caller="page",status="abandoned"/);
    return /statements_waiting 0\n/.test(metrics) && /statements_running 0\n/.test(metrics);
  });
  const { faults, charges } = await inAccountsFile(narrow.accounts, audit);
  assert.deepEqual([faults, charges], [[], 4], "those of the API's client alone");
});

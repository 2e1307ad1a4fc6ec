/** Webhooks of several accounts: receivers that stay silent hold up no others, neither of their account nor of another. */
import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { applyChange } from "../../../src/accounts/administration/changes.ts";
import { listSearches, type SavedSearch } from "../../../src/accounts/administration/saved-searches.ts";
import { randomFeeds } from "../../oracle/random-lake/feeds.ts";
import { type Customer, createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { eventually } from "../../support/eventually.ts";
import { type Client, startService } from "../../support/http/service.ts";
import { writeFeeds } from "../../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../../support/scope.ts";

async function listenOn(scope: Scope, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onScopeEnd(scope, async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** Returns the only search of a customer. */
const searchOf = (client: Client, { accountId }: Customer): Promise<SavedSearch> =>
  inAccountsFile(client.accounts, async (database) => (await listSearches(database, accountId))[0] ?? assert.fail());

test("silent receivers of an account hold up neither its other receivers nor those of another account", async (t) => {
  const folder = await temporaryFolder(t);
  const lake = join(folder, "lake");
  const days = randomFeeds({ seed: 20261129, days: 2, cars: 60 });
  const publish = async (index: number): Promise<void> => {
    const { day = "", feeds = {} } = days[index] ?? {};
    await ingestPath(lake, await writeFeeds(join(folder, "feeds"), day, feeds));
  };
  await publish(0);
  const client = await startService(t, lake, { privateWebhooks: true });
  const other = await createCustomer(client.accounts);

  let silent = 0;
  let ended = 0;
  const silentUrl = await listenOn(
    t,
    createServer((socket) => {
      silent += 1;
      socket.on("close", () => {
        ended += 1;
      });
    }),
  );
  /** How many silent receivers had timed out when a message came, by its path. */
  const received = new Map<string, number>();
  const url = await listenOn(
    t,
    createHttpServer((request, response) => {
      received.set(request.url ?? "", ended);
      response.writeHead(204).end();
    }),
  );
  const save = async ({ bearer }: Customer, webhook_url: string): Promise<void> => {
    const body = JSON.stringify({ name: "all", webhook_url });
    const { status } = await fetch(`${client.url}/v1/searches`, { method: "POST", headers: bearer, body });
    assert.equal(status, 200);
  };
  const silentMax = 20;
  for (let n = 0; n < silentMax; n += 1) await save(client.customer, `${silentUrl}/${n}`);
  await save(client.customer, `${url}/same`);
  await save(other, `${url}/other`);
  // The key that would pay is revoked.
  const keyless = await createCustomer(client.accounts);
  await save(keyless, `${url}/keyless`);
  await inAccountsFile(client.accounts, (database) =>
    applyChange(database, "keys revoke", keyless, { actor: "test", atMs: Date.now() }),
  );
  const isRevoked = async () => (await client.get("/v1/searches", keyless.bearer)).status === 401;
  await eventually("the service has seen that the key is revoked", isRevoked);
  await publish(1);
  await eventually("messages of both accounts", async () => received.size === 2);
  await eventually("all silent receivers are connected", async () => silent === silentMax);
  assert.deepEqual(
    new Map([...received].sort()),
    new Map([
      ["/hook/other", 0],
      ["/hook/same", 0],
    ]),
    "they waited for none",
  );
  const stopped = async () => (await searchOf(client, keyless)).stopped;
  await eventually("messages whose key is revoked stop", async () => (await stopped()) !== null);
  assert.match((await stopped()) ?? "", /^The key that pays cannot be used: /);
});

test("a page of changes that takes too long counts as no failure of the receiver", async (t) => {
  const folder = await temporaryFolder(t);
  const lake = join(folder, "lake");
  const [first, second] = randomFeeds({ seed: 20261129, days: 2, cars: 20 });
  const publish = async ({ day, feeds }: NonNullable<typeof first>): Promise<void> =>
    void (await ingestPath(lake, await writeFeeds(join(folder, "feeds"), day, feeds)));
  assert.ok(first !== undefined && second !== undefined);
  await publish(first);
  const client = await startService(t, lake, { privateWebhooks: true, deadlineMs: 0 });
  const headers = client.customer.bearer;
  const body = JSON.stringify({ name: "all", webhook_url: "http://127.0.0.1:9/hook" });
  assert.equal((await fetch(`${client.url}/v1/searches`, { method: "POST", headers, body })).status, 200);
  await publish(second);
  const messages = async (): Promise<Record<string, unknown>> => {
    const { data } = (await (await fetch(`${client.url}/v1/searches`, { headers })).json()) as {
      data: readonly { messages: Record<string, unknown> }[];
    };
    return data[0]?.messages ?? assert.fail("no search");
  };
  await eventually("a page that took too long", async () => (await messages()).last_attempt_at !== null);
  const { failed_attempts, last_outcome } = await messages();
  assert.match(String(last_outcome), /^Deadline exceeded/);
  assert.equal(failed_attempts, 0);
  // A claim lasts 60 seconds: a page that is asked for again at once is claimed.
  await eventually("a pause before it is asked for again", async () => {
    const { lastAtMs, nextAtMs } = await searchOf(client, client.customer);
    const pauseMs = nextAtMs - (lastAtMs ?? 0);
    return pauseMs >= 15_000 && pauseMs < 60_000;
  });
});

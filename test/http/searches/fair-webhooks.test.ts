/** Webhooks of several accounts: receivers that stay silent hold up no others, neither of their account nor of another. */
import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { randomFeeds } from "../../oracle/random-lake/feeds.ts";
import { type Customer, createCustomer } from "../../support/accounts.ts";
import { eventually } from "../../support/eventually.ts";
import { startService } from "../../support/http/service.ts";
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
  const received: string[] = [];
  const url = await listenOn(
    t,
    createHttpServer((request, response) => {
      received.push(request.url ?? "");
      response.writeHead(204).end();
    }),
  );
  const save = async ({ bearer }: Customer, webhook_url: string): Promise<void> => {
    const body = JSON.stringify({ name: "all", webhook_url });
    const { status } = await fetch(`${client.url}/v1/searches`, { method: "POST", headers: bearer, body });
    assert.equal(status, 200);
  };
  const silentMax = 40;
  for (let n = 0; n < silentMax; n += 1) await save(client.customer, `${silentUrl}/${n}`);
  await save(client.customer, `${url}/same`);
  await save(other, `${url}/other`);
  await publish(1);
  const isReceived = (path: string): boolean => received.includes(path);
  await eventually("messages of both accounts", async () => isReceived("/hook/same") && isReceived("/hook/other"));
  await eventually("all silent receivers are connected", async () => silent === silentMax);
  assert.equal(ended, 0, "no silent receiver has timed out yet");
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
});

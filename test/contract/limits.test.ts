/** Limits: those of the document are accepted at their edge and refused beyond it, and each limit in the code has a row here that names its test. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import Koa from "koa";
import { projectPath } from "../../src/base/project-files.ts";
import { decodeBody, decoderOf, separatorOf } from "../../src/contract/decode.ts";
import { type Operation, operations, type Parameter, type Schema } from "../../src/contract/document.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { compressResponses } from "../../src/http/middleware/compress-responses.ts";
import { exampleOf, requiredQuery } from "../support/examples.ts";
import { sampleService } from "../support/http/service.ts";
import { onScopeEnd } from "../support/scope.ts";

/** A value at an edge, and one beyond it; undefined where the schema has no such edge. */
type Edge = readonly [accepted: unknown, refused: unknown];

/** Returns the least length of a text, which the decoder leaves to the validator. */
const minLengthOf = (schema: object): number | undefined => {
  const { minLength }: { readonly minLength?: number } = schema;
  return minLength;
};

/** Returns the edges of a single value. */
function edgesOf(schema: Schema): readonly Edge[] {
  const { type, minimum, maximum, exclusiveMinimum, maxLength, pattern, format } = schema;
  const minLength = minLengthOf(schema);
  const step = type === "integer" ? 1 : 0.001;
  const isFree = schema.enum === undefined && pattern === undefined && format === undefined;
  const texts = (length: number): string => "a".repeat(length);
  return [
    ...(minimum === undefined ? [] : [[minimum, minimum - step] as const]),
    ...(maximum === undefined ? [] : [[maximum, maximum + step] as const]),
    ...(exclusiveMinimum === undefined ? [] : [[exclusiveMinimum + step, exclusiveMinimum] as const]),
    ...(isFree && maxLength !== undefined ? [[texts(maxLength), texts(maxLength + 1)] as const] : []),
    ...(isFree && minLength !== undefined && minLength > 1 ? [[texts(minLength), texts(minLength - 1)] as const] : []),
  ];
}

/** Returns different values of the items of a list. */
function itemsOf({ type, enum: known, minimum = 0, format }: Schema, count: number): readonly unknown[] {
  const numbers = Array.from({ length: count }, (_, index) => index);
  if (known !== undefined) return known.slice(0, count);
  if (type === "integer" || type === "number") return numbers.map((index) => Math.max(minimum, 0) + index);
  if (format === "uuid") return numbers.map((index) => `41e7ac92-0f5b-4d38-8c6e-${String(index).padStart(12, "0")}`);
  return numbers.map((index) => `value${index}`);
}

function listEdgesOf({ items, minItems, maxItems }: Schema): readonly Edge[] {
  if (items === undefined || maxItems === undefined || minItems === maxItems) return [];
  const values = itemsOf(items, maxItems + 1);
  const { maximum = Number.POSITIVE_INFINITY } = items;
  const isReached = values.length > maxItems && !values.some((value) => typeof value === "number" && value > maximum);
  return isReached && items.pattern === undefined ? [[values.slice(0, maxItems), values]] : [];
}

function queryWith({ parameters }: Operation, parameter: Parameter, value: unknown): string {
  const others = requiredQuery({ parameters } as Operation).filter(([name]) => name !== parameter.name);
  const text = [value]
    .flat()
    .map((item) => encodeURIComponent(String(item)))
    .join(encodeURIComponent(separatorOf(parameter)));
  return [...others.map((pair) => pair.join("=")), `${parameter.name}=${text}`].join("&");
}

test("every parameter of the document is accepted at each edge of its limits, and refused beyond it", () => {
  let edges = 0;
  for (const operation of operations.values()) {
    const path = Object.fromEntries(
      operation.parameters
        .filter(({ in: location }) => location === "path")
        .map((parameter) => [parameter.name, String(exampleOf(parameter))]),
    );
    const decode = (query: string): unknown => decoderOf(operation.id)(query, path);
    for (const parameter of operation.parameters.filter(({ in: location }) => location === "query")) {
      const { schema, name } = parameter;
      const single = edgesOf(schema.items ?? schema).map(([accepted, refused]): Edge => [accepted, refused]);
      const isTuple = schema.minItems !== undefined && schema.minItems === schema.maxItems;
      for (const [accepted, refused] of [...(isTuple ? [] : single), ...listEdgesOf(schema)]) {
        const label = `${operation.id} ${name}`;
        assert.doesNotThrow(() => decode(queryWith(operation, parameter, accepted)), `${label}: ${accepted}`);
        assert.throws(() => decode(queryWith(operation, parameter, refused)), Refusal, `${label}: ${refused}`);
        edges += 1;
      }
    }
  }
  assert.ok(edges > 300, `${edges} edges`);
});

test("every property of a body is accepted at each edge of its limits, and refused beyond it", () => {
  let edges = 0;
  for (const { id, requestBody } of operations.values()) {
    if (requestBody === undefined) continue;
    const { properties, required = [] } = requestBody;
    for (const [name, schema] of Object.entries(properties)) {
      const { maxLength } = schema;
      const minLength = minLengthOf(schema);
      if (schema.format !== undefined || schema.pattern?.includes("http") === true) continue;
      const others = Object.fromEntries(required.map((one) => [one, "a"]));
      const decode = (value: string): unknown => decodeBody(id, JSON.stringify({ ...others, [name]: value }));
      for (const [length, beyond] of [
        [minLength, (minLength ?? 0) - 1],
        [maxLength, (maxLength ?? 0) + 1],
      ] as const) {
        if (length === undefined) continue;
        assert.doesNotThrow(() => decode("a".repeat(length)), `${id} ${name}: ${length}`);
        assert.throws(() => decode("a".repeat(beyond)), Refusal, `${id} ${name}: ${beyond}`);
        edges += 1;
      }
    }
  }
  assert.ok(edges > 3, `${edges} edges`);
});

/**
 * Limits and windows of the code that serves requests, and of its databases and connections: the test of each; `pace` for an interval that decides no answer, and `no test` with
 * the reason for one that a test cannot reach.
 */
const limits: Readonly<Record<string, string>> = {
  "accounts/administration/saved-searches.ts accountSearchesMax":
    "an account has at most 100 saved searches, over HTTP and on pages",
  "accounts/administration/saved-searches.ts oldSecretMs":
    "a search is due after a new version, claimed once, and keeps its position",
  "accounts/keys/keys.ts accountKeysMax":
    "an account has at most 100 keys, those revoked in the last day included, beside that of its pages",
  "accounts/keys/keys.ts dayMs": "pace",
  "accounts/keys/keys.ts listedKeysMax":
    "an account has at most 100 keys, those revoked in the last day included, beside that of its pages",
  "connectors/bucket.ts uploadPartsMax": "no test: a file of more than 50 GB",
  "connectors/ftp.ts replyBytesMax": "no test: its name in `sources/hostile.test.ts` is one of a table",
  "connectors/https.ts redirectsMax":
    "redirects are followed, without credentials to another server and never from https",
  "connectors/transfer.ts progressBytesMin":
    "a file that begins again and again ends the transfer, however much of it comes each time",
  "connectors/transfer.ts stallBytesMin": "bodies without an end, without progress or beyond all bounds fail",
  "db/log-flusher.ts admittedMs":
    "what is posted is flushed within 100 ms, and nothing more is admitted while that takes longer",
  "db/log-flusher.ts delayMs":
    "what is posted is flushed within 100 ms, and nothing more is admitted while that takes longer",
  "db/log-flusher.ts retryMs": "a flush that fails is tried again without another commit",
  "db/log-flusher.ts stalledMs":
    "while the disk of the accounts file hangs, requests are refused in time and not charged",
  "db/postgres.ts attemptsMax": "transactions that deadlock are run again",
  "db/postgres.ts connectMs": "an account whose requests wait for its lock leaves connections for others",
  "db/postgres.ts connectionsMax": "an account whose requests wait for its lock leaves connections for others",
  "db/postgres.ts defaultIdleMs": "no test: a wait of a minute; tests set `idleMs`",
  "db/postgres.ts defaultReplyMs": "a statement of a command ends after a minute without a reply",
  "db/postgres.ts waitingMax": "no test: more than 512 requests in progress, which accounts share",
  "db/session-pool.ts interruptMs": "pace",
  "db/session-pool.ts sessionsMax":
    "an account leaves half of the sessions free, and a second account half of the rest",
  "db/session-pool.ts waitingQueriesMax": "a full queue refuses the account that fills it, not another one",
  "db/shared-sqlite.ts openMs": "pace",
  "db/shared-sqlite.ts retryMs": "pace",
  "db/sqlite-thread.ts idleMs": "pace",
  "db/sqlite-worker.ts busyMs": "pace",
  "db/sqlite-worker.ts logPagesMax": "pace",
  "db/sqlite-worker.ts passesMax": "pace",
  "db/sqlite-worker.ts shortPassMs": "pace",
  "db/sqlite.ts defaultBusyMs": "pace",
  "replication/follower.ts attemptsMax":
    "a version that is replaced while it is fetched is left, and one that a cache still names is not published again",
  "replication/follower.ts recordBytesMax":
    "the record of the last ingest is followed too, and an older one does not replace a newer",
  "replication/follower.ts skippedMax":
    "a follower reads 100 skipped versions; beyond them, all days count as replayed, however many a source invents",
  "replication/push.ts unfinishedUploadMs":
    "a push with --remove leaves the files of kept versions, and foreign objects",
  "replication/source-manifest.ts currentBytesMax": "bodies without an end, without progress or beyond all bounds fail",
  "replication/source-manifest.ts manifestBytesMax":
    "bodies without an end, without progress or beyond all bounds fail",
  "http/context.ts discardedBytesMax": "a form that is too long is refused, and the service lives",
  "http/exports/respond-with-sql.ts bodyBytesMax":
    "a body that is too large, another method, and a key without the scope are refused",
  "http/exports/respond-with-sql.ts resultBytesMax": "no test: a result of 2 GiB would have to be written",
  "http/exports/respond-with-sql.ts rowsMax": "a result has 1,000,000 rows, and no row more",
  "http/exports/spool.ts pollMs": "pace",
  "http/exports/started-exports.ts rememberedMax":
    "of an account, 50 started exports are remembered, and those that are being written",
  "http/limits.ts accountExportsMax": "exports are limited in number, in total and for each account",
  "http/limits.ts connectionsPerAddressMax":
    "idle connections of one address leave room for others and for health checks",
  "http/limits.ts drainTimeoutMs": "no test: a wait of 30 seconds; tests set --drain-timeout",
  "http/limits.ts exportDeadlineMs": "a refused export is neither written nor charged",
  "http/limits.ts exportsMax": "exports are limited in number, in total and for each account",
  "http/limits.ts headerBytesMax":
    "a path and query, or headers, beyond their maximum are refused with an error of the document",
  "http/limits.ts responseCacheBytesMax":
    "the cache is bounded: least recently used answers are evicted, and every waiting request is answered",
  "http/limits.ts spoolAgeMs": "a file is removed at its age; one in use when it is released",
  "http/limits.ts spoolBytesMax": "the least recently used export is removed when the spool exceeds its size",
  "http/limits.ts uriBytesMax":
    "a path and query, or headers, beyond their maximum are refused with an error of the document",
  "http/limits.ts waitingExportsMax": "beyond the queue, the account that waits most is refused, not the last to come",
  "http/middleware/compress-responses.ts compressedBytesMin": "a response is compressed from 2,048 bytes on",
  "http/oauth/authorization-server.ts registrationBytesMax": "registrations are limited in size and per address",
  "http/oauth/state-adapter.ts unusedClientMs":
    "a client that is never used is forgotten after a day; one that has tokens, 90 days after the last",
  "http/oauth/state-adapter.ts usedClientMs":
    "a client that is never used is forgotten after a day; one that has tokens, 90 days after the last",
  "http/pipeline.ts bodyBytesMax": "a body of an operation about the account is read up to 8,192 bytes",
  "http/searches/deliver.ts changesBytesMax":
    "messages lead from market to market across failures, restarts, a gone receiver and a version that is no longer kept",
  "http/searches/deliver.ts claimMs": "a search is due after a new version, claimed once, and keeps its position",
  "http/searches/deliver.ts pageChangesMax":
    "no test: 1,001 changes between published versions; pages of 256 KiB end before",
  "http/searches/deliver.ts pollMs": "pace",
  "http/searches/deliver.ts responseMs":
    "a request ends at its deadline, whether the look-up, the response or the document does not end",
  "http/searches/deliver.ts retryDelaysMs":
    "messages lead from market to market across failures, restarts, a gone receiver and a version that is no longer kept",
  "http/searches/deliver.ts slotsMax":
    "silent receivers of an account hold up neither its other receivers nor those of another account",
  "http/server.ts closeMs": "no test: only a thread that does not end reaches it",
  "http/server.ts reviewPollMs": "pace",
  "http/service/client-errors.ts rejectedConnectionMs": "pace",
  "http/service/connections.ts healthConnectionsMax":
    "health checks are answered while the total limit of connections is reached, others when connections close",
  "http/service/connections.ts openMax":
    "the total limit of connections leaves a quarter of the file descriptors to files",
  "http/service/drain.ts pauseMs": "pace",
  "http/service/drain.ts quietMs": "pace",
  "http/service/drain.ts unusedConnectionMs":
    "as many sockets listen on the port as accept a burst of connections, and a second service is refused the port; SIGTERM closes them together, at once if the service is idle, with clients still connected, one of them without a request",
  "http/service/freshness.ts graceMs":
    "without a setting, a delivery is overdue 12 hours later than the days before let expect",
  "http/service/freshness.ts hourMs": "pace",
  "http/service/freshness.ts recordPollMs": "pace",
  "http/service/http-server.ts backlogMax":
    "a service that is busy for a moment keeps 800 new connections, as after a restart",
  "http/service/http-server.ts bodyPartBytesMin":
    "a connection is closed when the body of a request arrives in many small parts",
  "http/service/http-server.ts bodyPartsMax":
    "a connection is closed when the body of a request arrives in many small parts",
  "http/service/http-server.ts headersMax": "headers beyond the maximum are ignored",
  "http/service/http-server.ts headersMs": "an incomplete request times out",
  "http/service/http-server.ts keepAliveMs": "pace",
  "http/service/http-server.ts requestMs": "no test: a wait of minutes",
  "http/service/http-server.ts responseMs": "a connection is closed when its client does not read the responses",
  "http/service/public-requests.ts documentBytesMax":
    "a redirect is not followed, a long document is refused, and a slow one ends with its signal",
  "http/service/public-requests.ts informationalMax": "informational responses without end are refused",
  "http/service/public-requests.ts lookUpsMax":
    "names whose look-ups do not end take half of the look-ups for their account, and those of another go on",
  "http/service/public-requests.ts requestMs":
    "a request ends at its deadline, whether the look-up, the response or the document does not end",
  "http/service/public-requests.ts waitingLookUpsMax": "no test: more than all slots of webhooks",
  "operations/answer.ts openingMsMax": "no test: opening takes that long only on a slow disk, or beside load",
  "operations/caller.ts accountRequestsMax":
    "of concurrent requests of an account exactly the limit are in progress, and the others are refused at once",
  "operations/caller.ts requestDeadlineMs": "a request that waits past its deadline is refused without running",
  "http/page-charges.ts paidMs": "a paid search is charged again after half an hour, and in a newer version",
  "http/page-charges.ts searchesMax": "of the searches of pages that are paid for, 20,000 are remembered",
  "serving/kept-versions.ts idleMs": "pace",
  "serving/kept-versions.ts keptMs":
    "a version that its account has left unused for 5 seconds is closed for another account",
  "serving/kept-versions.ts openMax": "an account that reads many versions closes none that another account reads",
  "serving/kept-versions.ts pollMs": "pace",
  "serving/kept-versions.ts waitMs": "a request for a version waits for its turn, and is refused if none comes",
};

/** The folders and files whose constants are limits of requests. */
const limited = [
  "connectors",
  "db",
  "replication",
  "http",
  "operations",
  "contract",
  "serving/kept-versions.ts",
  "accounts/administration/saved-searches.ts",
  "accounts/keys/keys.ts",
];

const textOf = (path: string): string => readFileSync(projectPath(path), "utf8");
const filesIn = (folder: string): readonly string[] =>
  readdirSync(projectPath(folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `${folder}/${path}`);

test("each limit in the code that serves requests has a row, which names its test", () => {
  const files = limited.flatMap((path) => (path.endsWith(".ts") ? [`src/${path}`] : filesIn(`src/${path}`)));
  const named = files.flatMap((path) =>
    [...textOf(path).matchAll(/^(?:export )?const (\w+(?:Max|Min|Ms)) = /gm)].map(
      ([, name]) => `${path.slice("src/".length)} ${name}`,
    ),
  );
  assert.deepEqual([...named].sort(), Object.keys(limits).sort());
  const tests = filesIn("test").map(textOf).join("");
  for (const [limit, name] of Object.entries(limits))
    assert.ok(/^(?:pace$|no test: )/.test(name) || tests.split(`"${name}"`).length > 2, `${limit}: no test "${name}"`);
});

test("a body of an operation about the account is read up to 8,192 bytes", async () => {
  const { client } = await sampleService();
  for (const [bytes, status] of [
    [8_192, 400],
    [8_193, 413],
  ] as const) {
    const body = `{"name": "${"a".repeat(bytes - 12)}"}`;
    assert.equal(Buffer.byteLength(body), bytes);
    const sent = await fetch(`${client.url}/v1/searches`, { method: "POST", headers: client.customer.bearer, body });
    assert.equal(sent.status, status, `${bytes} bytes`);
  }
});

test("a response is compressed from 2,048 bytes on", async (t) => {
  const app = new Koa().use(compressResponses).use((context) => {
    context.type = "text/plain";
    context.body = Buffer.alloc(Number(context.query.bytes), "a");
  });
  const server = app.listen(0, "127.0.0.1");
  onScopeEnd(t, async () => void server.close().closeAllConnections());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const codingOf = async (bytes: number): Promise<string | null> =>
    (await fetch(`http://127.0.0.1:${port}/?bytes=${bytes}`, { headers: { "Accept-Encoding": "br" } })).headers.get(
      "Content-Encoding",
    );
  assert.deepEqual([await codingOf(2047), await codingOf(2048)], [null, "br"]);
});

/** The deployment of replicas: its files fit their schemas, the program and each other, and the programs of the compose file work together. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { getAccount } from "../../src/accounts/account.ts";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { projectText } from "../../src/base/project-files.ts";
import { nodeBytes } from "../../src/cli/memory-budget.ts";
import { operations } from "../../src/contract/document.ts";
import { connectionsPerAddressMax, exportDeadlineMs, headerBytesMax, uriBytesMax } from "../../src/http/limits.ts";
import { closeMs } from "../../src/http/server.ts";
import { responseMs } from "../../src/http/service/http-server.ts";
import { agentRequestBytesMax } from "../../src/mcp/respond-to-agent.ts";
import { uploadBytesMax } from "../../src/web/shell/forms.tsx";
import { inAccountsFile, temporaryAccounts } from "../support/accounts.ts";
import { connectAgent } from "../support/agents.ts";
import {
  eventually,
  killAtEnd,
  parseLog,
  type ServeProcess,
  spawnCarquet,
  startServing,
} from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { skipWithoutNginx, startNginx } from "../support/http/nginx.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { skipWithoutPostgres, stopServerAtEnd } from "../support/postgres.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";
import { finalInstruction, instructions } from "./containerfile.ts";
import { bytesOf, containersOf, deployedPrograms, podsOf, readCompose, readManifests, settingsOf } from "./deployed.ts";

const nginxText = projectText("deploy/compose/nginx.conf");
const { services } = readCompose();
const composed = { ...services, ...readCompose("single.yaml").services };
const manifests = readManifests();
const programs = deployedPrograms();
const servers = programs.filter(({ args }) => args[0] === "serve");
/** Programs that serve and ingest. */
const nodes = programs.filter(({ args }) => args[0] === "run");
const imageVariables = new Map(
  finalInstruction("ENV")
    .split(" ")
    .map((pair) => [pair.split("=")[0] ?? "", pair.split("=")[1] ?? ""]),
);

/** Returns the number that a pattern captures in the configuration of nginx. */
const nginxNumber = (pattern: RegExp): number => Number(pattern.exec(nginxText)?.[1] ?? assert.fail(String(pattern)));

describe("the compose file and the manifests", () => {
  test("start commands with options that the program has", () => {
    assert.ok(servers.length === 3 && nodes.length === 1 && programs.length === 13);
    for (const program of programs) assert.ok(settingsOf(program).size > 0);
  });

  test("name the ports, paths, user and version of the image", () => {
    const { version } = JSON.parse(projectText("package.json"));
    const folders = instructions.flatMap(({ text: words }) => /install -d (.*?) &&/.exec(words)?.[1]?.split(" ") ?? []);
    for (const { location, paths } of programs)
      for (const path of paths)
        assert.ok(folders.includes(path) || /^\/(tmp|feeds)$/.test(path), `${location}: ${path}`);
    for (const [name, { image }] of Object.entries(composed))
      assert.ok(!image.startsWith("carquet") || image === `carquet:${version}`, name);
    assert.match(projectText("deploy/kubernetes/kustomization.yaml"), new RegExp(`newTag: ${version}$`, "m"));
    for (const { securityContext } of podsOf(manifests))
      assert.equal(`${securityContext.runAsUser}:${securityContext.runAsGroup}`, finalInstruction("USER"));
    const ports = podsOf(manifests)
      .flatMap(containersOf)
      .flatMap(({ ports: named = [] }) => named);
    assert.deepEqual(
      ports.map(({ containerPort }) => String(containerPort)),
      [imageVariables.get("CARQUET_PORT"), servers[0]?.environment.CARQUET_METRICS_PORT],
    );
  });

  test("send requests and scrapes to every replica", () => {
    const replicas = Object.entries(services).filter(([, { command }]) => command?.[0] === "serve");
    assert.deepEqual(
      [...nginxText.matchAll(/^ +server (\S+) /gm)].map(([, address]) => address),
      replicas.map(([, { networks }]) => `${networks?.default?.ipv4_address}:${imageVariables.get("CARQUET_PORT")}`),
    );
    const targets = replicas.map(([name]) => `${name}:${servers[0]?.environment.CARQUET_METRICS_PORT}`);
    assert.ok(projectText("deploy/prometheus/prometheus.yml").includes(`targets: [${targets.join(", ")}]`));
  });

  test("grant programs the memory that their limits add up to, and the time to stop", () => {
    for (const program of [...servers, ...nodes]) {
      const settings = settingsOf(program);
      const exported =
        Number(settings.get("--exports")) * (bytesOf(settings.get("--export-memory")) + nodeBytes.export);
      const ingest = nodes.includes(program) ? bytesOf(settings.get("--ingest-memory")) + nodeBytes.ingest : 0;
      const needed = bytesOf(settings.get("--memory")) + nodeBytes.service + exported + ingest;
      assert.ok(bytesOf(program.memory) >= needed, program.location);
      const delayMs = Number(settings.get("--drain-delay"));
      const drainMs = delayMs + Number(settings.get("--drain-timeout"));
      assert.ok(drainMs + closeMs < program.graceMs, program.location);
      if (servers.includes(program))
        assert.ok(nginxNumber(/^ {4}keepalive_timeout (\d+)s;/m) * 1000 < delayMs, program.location);
    }
  });

  test("run read-only programs without privileges, and hold no secrets", () => {
    for (const [name, { read_only, cap_drop }] of Object.entries(composed))
      assert.deepEqual([read_only, cap_drop], [true, ["ALL"]], name);
    for (const { securityContext, name } of podsOf(manifests).flatMap(containersOf))
      assert.deepEqual(
        securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
        name,
      );
    for (const [name, { environment = {} }] of Object.entries(composed))
      for (const [variable, value] of Object.entries(environment))
        assert.ok(!/PASSWORD|SECRET|KEY/.test(variable) || value === "secret", `${name}: ${variable}`);
    assert.ok(manifests.every(({ kind }) => kind !== "Secret"));
  });
});

describe("nginx", () => {
  test("has the limits of the service, and routes for streams", () => {
    assert.match(nginxText, new RegExp(`large_client_header_buffers 4 ${headerBytesMax / 1024}k;`));
    assert.equal(nginxNumber(/client_max_body_size (\d+)k;/) * 1024, agentRequestBytesMax);
    assert.ok(nginxNumber(/proxy_buffer_size (\d+)k;/) * 1024 > 3 * uriBytesMax, "a Link header repeats the URL");
    assert.equal(nginxNumber(/limit_conn addresses (\d+);/), connectionsPerAddressMax);
    const [answers, exports] = [...nginxText.matchAll(/proxy_read_timeout (\d+)s;/g)].map(([, s]) => Number(s) * 1000);
    assert.ok(Number(answers) > responseMs && Number(exports) > exportDeadlineMs);
    const [written = "", uploads = ""] = [...nginxText.matchAll(/location ~ (\S+) /g)].map(([, path]) => path);
    for (const id of ["exportListings", "runSql"] as const)
      assert.match(operations.get(id)?.path ?? "", new RegExp(written));
    assert.match(nginxText, /location = \/mcp /);
    for (const path of ["/operate/feeds", "/operate/decide"]) assert.match(path, new RegExp(uploads));
    assert.ok(nginxNumber(/client_max_body_size (\d+)m;/) * 2 ** 20 > uploadBytesMax + agentRequestBytesMax);
  });

  test("repeats only requests that were not sent, or are free", { skip: skipWithoutNginx }, async (t) => {
    const received = { lost: 0, answered: 0 };
    const lost = await listenOn(t, (socket) => {
      socket.once("data", () => {
        received.lost += 1;
        socket.destroy();
      });
    });
    const answering = await listenOn(t, (socket) => {
      socket.on("data", () => {
        received.answered += 1;
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      });
    });
    const closed = "http://127.0.0.1:9";
    const rows: readonly (readonly [first: string, method: string, key: string, expected: readonly number[]])[] = [
      [closed, "GET", "", [200, 0, 1]],
      [closed, "POST", "", [200, 0, 1]],
      [lost, "GET", "", [502, 1, 0]],
      [lost, "POST", "once", [502, 1, 0]],
      [lost, "GET", "once", [200, 1, 1]],
    ];
    for (const [first, method, key, expected] of rows) {
      Object.assign(received, { lost: 0, answered: 0 });
      const { url } = await startNginx(t, [first, answering]);
      const { status } = await fetch(url, { method, ...(key === "" ? {} : { headers: { "Idempotency-Key": key } }) });
      assert.deepEqual([status, received.lost, received.answered], expected, `${first} ${method} ${key}`);
    }
  });
});

/** Listens for connections until the scope ends. Returns the URL. */
async function listenOn(scope: Scope, accept: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => accept(socket.on("error", () => undefined)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onScopeEnd(scope, async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The programs of the compose file, without containers: its arguments and variables, with the folders, ports and accounts of a test. */
async function startComposed(scope: Scope, accounts: string): Promise<readonly ServeProcess[]> {
  const [{ lake: published }, folder] = await Promise.all([createLake(scope), temporaryFolder(scope)]);
  const here = {
    CARQUET_LAKE: join(folder, "lake"),
    CARQUET_ACCOUNTS: accounts,
    CARQUET_METRICS_PORT: "0",
    TMPDIR: folder,
  };
  const composed = programs.filter(({ location, args }) => location.startsWith("compose") && args[0] !== "ingest");
  const started = await Promise.all(
    composed.map(async ({ args, environment }) => {
      if (args[0] === "serve")
        return startServing(scope, [...args, "--port", "0"], { env: { ...environment, ...here } });
      killAtEnd(
        scope,
        spawnCarquet(
          args.map((word) => (word === "/data/published" ? published : word)),
          here,
        ),
      );
      return undefined;
    }),
  );
  const replicas = (await Promise.all(started)).filter((service) => service !== undefined);
  for (const { url } of replicas)
    await eventually("the lake has been followed", async () => (await fetch(`${url}/readyz`)).ok);
  return replicas;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request from an address of this machine. */
function getFrom(localAddress: string, url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(url, { localAddress, headers, maxHeaderSize: 65_536 }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, headers: response.headers, body }), reject);
    }).once("error", reject);
  });
}

describe("the programs of the compose file", {
  skip: skipInShortRun || skipWithoutNginx || skipWithoutPostgres,
}, () => {
  stopServerAtEnd();

  test("answers from both replicas, charges once, and survives one of them", async (t) => {
    const accounts = await temporaryAccounts(t, "PostgreSQL");
    const replicas = await startComposed(t, accounts);
    const [first, second] = replicas;
    assert.ok(first && second && replicas.length === 2);
    const { url, log } = await startNginx(
      t,
      replicas.map((replica) => replica.url),
    );
    const address = "127.0.0.2";
    const ask = (path: string, headers = {}): Promise<Answer> =>
      getFrom(address, `${url}${path}`, { ...first.customer.bearer, "X-Forwarded-For": "203.0.113.9", ...headers });
    let micros = 0;
    const expectCharged = async (path: string, headers = {}): Promise<Answer> => {
      const answer = await ask(path, headers);
      assert.ok(answer.status === 200 || answer.status === 206, `${answer.status} ${answer.body.slice(0, 300)}`);
      micros += Number(answer.headers["x-usage-cost-micros"]);
      return answer;
    };
    for (let limit = 1; limit <= 6; limit += 1) await expectCharged(`/v1/listings?limit=${limit}`);
    const longPath = `/v1/listings?limit=1&exclude_make=${Array(100).fill("x".repeat(162)).join(",")}`;
    assert.equal((await expectCharged(longPath)).headers.link?.includes(longPath.slice(20)), true);
    assert.equal((await ask(`${longPath},${"x".repeat(100)}`)).status, 414);
    assert.equal((await ask("/metrics")).status, 404);

    const parts = await Promise.all(
      ["bytes=0-99", "bytes=100-"].map((range) => expectCharged("/v1/exports?format=csv", { Range: range })),
    );
    const whole = await expectCharged("/v1/exports?format=csv");
    assert.equal(parts.map(({ body }) => body).join(""), whole.body);
    assert.deepEqual(
      parts.map(({ status }) => status),
      [206, 206],
    );

    const agent = await connectAgent(t, url, first.customer.bearer);
    micros += Number((await agent.call("search_listings", { limit: 7 })).usage?.charged_micros);

    first.kill();
    await first.ended;
    for (let offset = 1; offset <= 4; offset += 1) await expectCharged(`/v1/listings?offset=${offset}`);
    const answering = new Set([...(await log()).matchAll(/replica="([\d.:]+)"/g)].map(([, replica]) => replica));
    assert.deepEqual(answering, new Set(replicas.map((replica) => new URL(replica.url).host)));
    second.kill();
    const addresses = parseLog((await second.ended).err).flatMap(({ ip, path }) =>
      String(path).startsWith("/v1/") ? ip : [],
    );
    assert.deepEqual(new Set(addresses), new Set([address]));
    await inAccountsFile(accounts, async (database) => {
      const { balanceMicros } = await getAccount(
        database,
        first.customer.accountId,
        new Date().toISOString().slice(0, 7),
      );
      assert.equal(balanceMicros, 1_000_000_000 - micros);
      assert.deepEqual((await audit(database)).faults, []);
    });
  });
});

interface AlertRule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
}

test("every alert is documented with its severity", () => {
  const { groups }: { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] } = parse(
    projectText("deploy/prometheus/alerts.yml"),
  );
  const rows = [...projectText("docs/operations.md").matchAll(/^\| `(Carquet\w+)` \| (\w+) \|/gm)];
  assert.deepEqual(
    rows.map(([, alert, severity]) => [alert, severity]),
    groups.flatMap(({ rules }) => rules.map(({ alert, labels }) => [alert, labels.severity])),
  );
});

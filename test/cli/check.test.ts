/** `carquet check`: each thing that a service needs, one line each, before it starts. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { currentManifest } from "../../src/lake/manifest.ts";
import { temporaryAccountsFile } from "../support/accounts.ts";
import { carquet, carquetHere } from "../support/command-line.ts";
import { createLake, smallDisk, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd, type Scope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const accounts = await temporaryAccountsFile(fileScope);
const folder = await temporaryFolder(fileScope);
const healthy = ["--lake", lake, "--accounts", accounts];

/** Writes a file of sources; returns its path. */
function sourcesFile(name: string, sources: Readonly<Record<string, object>>): string {
  const path = join(folder, name);
  const file = { timeZone: "America/New_York", deadline: "09:00", schedule: "*/15 * * * *", sources };
  writeFileSync(path, JSON.stringify(file));
  return path;
}

/** Serves HTTP until a scope ends; returns the URL of a file. */
async function servedFile(scope: Scope, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => void server.close().closeAllConnections());
  const address = server.address();
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/inventory.csv` : "";
}

/** Returns the outcomes of a check by name: what was found, or `failed: ` and why. */
async function outcomesOf(args: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { out } = await carquetHere(["check", "--json", ...args]);
  const lines = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return new Map(lines.map(({ check, ok, found, error }) => [check, ok === true ? found : `failed: ${error}`]));
}

test("a node that can serve has a line for each check, and ends with code 0", async () => {
  mkdirSync(join(folder, "drop"));
  const sources = sourcesFile("sources.yaml", { acme: { folder: { path: join(folder, "drop") }, files: "*.csv" } });
  const { code, out, err } = await carquetHere([
    "check",
    ...healthy,
    "--sources",
    sources,
    "--queue",
    join(folder, "queue"),
  ]);
  assert.deepEqual([code, err], [0, ""]);
  const names = out
    .trimEnd()
    .split("\n")
    .map((line) => /^ok {6}([^:]+): /.exec(line)?.[1]);
  assert.deepEqual(names, [
    ...[
      "settings",
      "lake folder",
      "folder of --accounts",
      "folder of --spool",
      "folder of --queue",
      "tls",
      "lake",
      "accounts",
      "sources",
    ],
    ...["source acme", "space for --accounts", "space for --spool", "space for --queue"],
  ]);
});

describe("each fault has its line, and the check ends with code 1", () => {
  const faults: readonly (readonly [check: string, says: RegExp, args: () => readonly string[]])[] = [
    ["settings", /Invalid public URL x: /, () => [...healthy, "--public-url", "x"]],
    ["settings", /Invalid host 0\.0\.0\.0 for --auth=off/, () => ["--lake", lake, "--auth=off", "--host", "0.0.0.0"]],
    ["lake folder", /not a lake, because it has /, () => [...healthy, "--lake", folder]],
    ["folder of --spool", /is not a folder/, () => [...healthy, "--spool", accounts]],
    ["folder of --metrics-folder", /ENOENT/, () => [...healthy, "--metrics-folder", join(folder, "none")]],
    ["tls", /Invalid TLS pair/, () => [...healthy, "--tls-cert", accounts, "--tls-key", accounts]],
    ["accounts", /file is not a database/, () => ["--lake", lake, "--accounts", sourcesFile("accounts.db", {})]],
    ["accounts", /ECONNREFUSED/, () => ["--lake", lake, "--accounts", "postgres://x@127.0.0.1:1/x"]],
    ["sources", /file of sources not found/, () => [...healthy, "--sources", join(folder, "none.yaml")]],
    [
      "source gone",
      /no such file|ENOENT|not found/,
      () => [
        ...healthy,
        "--sources",
        sourcesFile("gone.yaml", { gone: { folder: { path: join(folder, "gone") }, files: "*.csv" } }),
      ],
    ],
  ];
  for (const [check, says, args] of faults)
    test(`${check}: ${says.source}`, async () => {
      const { code, out, err } = await carquetHere(["check", ...args()]);
      assert.match(out, new RegExp(`^failed  ${check}: .*(${says.source}).*$`, "m"));
      assert.equal(out.match(/^failed/gm)?.length, 1, out);
      assert.match(err, /^carquet: 1 of \d+ checks failed\.\n$/);
      assert.equal(code, 1);
    });

  test("a file that the published version lacks", async (t) => {
    const { lake: damaged } = await createLake(t);
    const { tables } = (await currentManifest(damaged)) ?? assert.fail();
    rmSync(join(damaged, tables.listings[0]?.path ?? ""));
    const outcomes = await outcomesOf([...healthy, "--lake", damaged]);
    assert.match(outcomes.get("lake") ?? "", /^failed: .*: version 2026-11-19\.1: files\/listings\/.*not found/);
    const { code, out } = await carquetHere(["check", ...healthy, "--lake", damaged, "--offline"]);
    assert.deepEqual([code, /^failed {2}lake: /m.test(out)], [0, true], "a service starts nevertheless");
  });

  test("a lake whose CURRENT is lost", async (t) => {
    const { lake: damaged } = await createLake(t);
    rmSync(join(damaged, "CURRENT"));
    const outcomes = await outcomesOf([...healthy, "--lake", damaged]);
    assert.match(outcomes.get("lake") ?? "", /^failed: .*: CURRENT is missing: expected the name of the published/);
  });

  test("a disk with less than 100 MiB of space, with which a service starts all the same", async (t) => {
    const disk = await smallDisk(t, "20m");
    if (disk === undefined) return t.skip("mounting a tmpfs needs root");
    const outcomes = await outcomesOf([...healthy, "--spool", disk]);
    assert.match(outcomes.get("space for --spool") ?? "", /^failed: \d+ MiB free at .*: expected 100 MiB or more\.$/);
    assert.match(outcomes.get("space for --accounts") ?? "", /^\d+ MiB free at /);
  });
});

test("each source is asked for its files, unless --offline says not to", async (t) => {
  const good = await servedFile(t, (_, response) => response.end("VIN\n"));
  const forbidden = await servedFile(t, (_, response) => response.writeHead(403).end());
  const failing = await servedFile(t, (_, response) => response.writeHead(500).end());
  const path = sourcesFile("web.yaml", {
    good: { https: { url: good } },
    forbidden: { https: { url: forbidden } },
    failing: { https: { url: failing } },
    secret: { https: { url: good, username: "a", passwordVariable: "NO_SUCH_PASSWORD" } },
    ftp: { ftp: { host: "127.0.0.1", port: 1, username: "a" }, files: "*.csv" },
  });
  const outcomes = await outcomesOf([...healthy, "--sources", path]);
  assert.equal(outcomes.get("source good"), `1 files at ${good}`);
  for (const [name, says] of [
    ["forbidden", /403/],
    ["failing", /500/],
    ["secret", /the environment variable NO_SUCH_PASSWORD is not set/],
    ["ftp", /ECONNREFUSED/],
  ] as const)
    assert.match(outcomes.get(`source ${name}`) ?? "", new RegExp(`^failed: .*(${says.source})`), name);
  const offline = await outcomesOf([
    ...healthy,
    "--accounts",
    "postgres://x@127.0.0.1:1/x",
    "--sources",
    path,
    "--offline",
  ]);
  assert.deepEqual(
    [...offline.values()].filter((outcome) => outcome.startsWith("failed")),
    [],
  );
  assert.equal(offline.get("sources"), `${path}: 5 sources`);
});

test("a certificate that has expired is named with its date", async () => {
  const pair = { key: join(folder, "old.key"), cert: join(folder, "old.pem") };
  const request = join(folder, "old.csr");
  const curve = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost".split(" ");
  execFileSync("openssl", [...curve, "-keyout", pair.key, "-out", request], { stdio: "ignore" });
  const signing = ["x509", "-req", "-in", request, "-signkey", pair.key, "-days", "-1", "-out", pair.cert];
  execFileSync("openssl", signing, { stdio: "ignore" });
  const { code, out, err } = await carquet([
    "serve",
    "--port",
    "0",
    ...healthy,
    "--tls-cert",
    pair.cert,
    "--tls-key",
    pair.key,
  ]);
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /^carquet: Invalid TLS pair .*: the certificate has expired on .*: expected a certificate/);
});

test("sources are asked at once: one that is slow does not add its time to the others", async (t) => {
  const waiting: (() => void)[] = [];
  const url = await servedFile(t, (_, response) => {
    waiting.push(() => response.end("vin\n"));
    if (waiting.length === 3) for (const answer of waiting) answer();
  });
  const names = ["alpha", "beta", "gamma"];
  const sources = sourcesFile("slow.yaml", Object.fromEntries(names.map((name) => [name, { https: { url } }])));
  const outcomes = await outcomesOf([...healthy, "--sources", sources, "--stall-timeout", "2"]);
  for (const name of names) assert.match(outcomes.get(`source ${name}`) ?? "", /^1 files at /);
});

/** Builds and runs the image, the systemd units and the package where possible, and checks the other files with third-party tools. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp, realpath, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { programPath, projectPath, projectText } from "../../src/base/project-files.ts";
import { drainTimeoutMs } from "../../src/http/limits.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { carquet, killAtEnd } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";
import { execForm, finalInstruction, imageScript, instructions, whyNoImage } from "./containerfile.ts";

const run = promisify(execFile);

/** Returns whether a program can be started. */
const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

/** Copies the files under version control, with uncommitted changes, into a new folder. */
async function copyProject(scope: Scope): Promise<string> {
  const folder = await temporaryFolder(scope);
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: projectPath("."),
    encoding: "utf8",
  });
  for (const path of listed.split("\0").filter((name) => /^[^/]+$|^(bin|src|schemas|data|deploy|docs)\//.test(name)))
    if (existsSync(projectPath(path)) && path !== "node_modules") await cp(projectPath(path), join(folder, path));
  return folder;
}

/** Waits for the line `listening on <url>` of a process; returns it and the lines before it. */
async function untilListening(
  child: ChildProcess,
): Promise<{ readonly url: string; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const errors: string[] = [];
  child.stderr?.on("data", (chunk) => errors.push(String(chunk)));
  if (child.stdout === null) throw new Error("The command has no standard output.");
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (https?:\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { url: url.replace("0.0.0.0", "127.0.0.1"), lines };
    lines.push(line);
  }
  throw new Error(`The command ended before it listened: ${errors.join("")}`);
}

/** Fails unless the key in some lines gets a page of listings from a service, and the service stops on SIGTERM. */
async function assertServes(child: ChildProcess, url: string, lines: readonly string[]): Promise<void> {
  const [key = ""] = /cq_live_[\w-]+/.exec(lines.join("\n")) ?? [];
  const response = await fetch(`${url}/v1/listings?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  assert.deepEqual([response.status, (await response.text()).startsWith('{"data":[{"id":')], [200, true]);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
}

describe("the image", () => {
  test("copies what .dockerignore lets into the context, and nothing else", () => {
    const copied = instructions
      .filter(({ name, text }) => name === "COPY" && !text.startsWith("--from"))
      .flatMap(({ text }) => text.split(" ").slice(0, -1));
    const ignore = projectText(".dockerignore").trim().split("\n");
    const allowed = ignore.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    assert.ok(ignore.includes("*"));
    assert.deepEqual(copied.toSorted(), allowed.toSorted());
    for (const path of copied) assert.ok(existsSync(projectPath(path)), path);
  });

  test("runs one process as a user other than root, and has the version of package.json", () => {
    assert.match(finalInstruction("USER"), /^[1-9]\d*:[1-9]\d*$/);
    assert.deepEqual([execForm("ENTRYPOINT"), execForm("CMD")], [["carquet"], ["serve"]]);
    assert.equal(finalInstruction("STOPSIGNAL"), "SIGTERM");
    const { version } = JSON.parse(projectText("package.json"));
    assert.ok(instructions.some(({ name, text }) => name === "ARG" && text === `VERSION=${version}`));
  });

  const noLinter = isInstalled("hadolint") ? false : "hadolint is not installed";
  test("has nothing to report for hadolint", { skip: noLinter }, async () => {
    await run("hadolint", [projectPath("Containerfile")]);
  });

  test("serves with a read-only root, as its user", { skip: skipInShortRun || whyNoImage() }, async (t) => {
    const [context, images, volume] = await Promise.all([copyProject(t), temporaryFolder(t), temporaryFolder(t)]);
    const command = [
      "carquet ingest /app/data/sample >&2",
      "account=$(carquet accounts create --email joe@dealers.example)",
      "carquet keys create --account $account",
      "carquet credits add --account $account --usd 25 >&2",
      `exec ${[...execForm("ENTRYPOINT"), ...execForm("CMD")].join(" ")}`,
    ].join(" && ");
    const child = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", imageScript(command)], {
      env: { ...process.env, context, images, volume, port: "0" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    killAtEnd(t, child);
    const { url, lines } = await untilListening(child);
    const [program = "", ...args] = execForm("HEALTHCHECK");
    const check = (port: string) => spawnSync(program, args, { env: { ...process.env, CARQUET_PORT: port } }).status;
    assert.deepEqual([check(new URL(url).port), check("1")], [0, 1]);
    await assertServes(child, url, lines);
    const packages = join(images, "final/upper/app/node_modules");
    assert.ok(existsSync(join(packages, "@duckdb/node-api")));
    for (const absent of ["tsx", "typescript", "esbuild"]) assert.ok(!existsSync(join(packages, absent)), absent);
    const prebuilds = readdirSync(join(packages, "@photostructure/sqlite/prebuilds"));
    assert.deepEqual(prebuilds, [`linux-${process.arch}`]);
  });
});

describe("the systemd units", () => {
  const folder = projectPath("deploy/systemd");
  const units = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
  const services = units.filter(({ name }) => name.endsWith(".service"));
  const skip = isInstalled("systemd-analyze") ? false : "systemd-analyze is not installed";

  test("let a service drain before they kill it", () => {
    for (const { name, text } of services)
      assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) * 1000 > drainTimeoutMs, name);
  });

  test("are valid, and expose little", { skip }, async (t) => {
    const copies = await temporaryFolder(t);
    for (const { name, text } of units)
      writeFileSync(join(copies, name), text.replaceAll("/usr/bin/node", process.execPath));
    const paths = units.map(({ name }) => join(copies, name));
    const { stdout, stderr } = await run("systemd-analyze", ["verify", "--man=no", ...paths]);
    assert.equal(stdout + stderr, "");
    for (const { name } of services)
      await run("systemd-analyze", ["security", "--offline=true", "--threshold=20", join(copies, name)]);
  });

  test("check the settings before a service starts", { skip: skipInShortRun }, async (t) => {
    const data = await temporaryFolder(t);
    for (const { name, text } of services.filter((unit) => /carquet-(run|serve@)\.service/.test(unit.name))) {
      const [, words = ""] = /^ExecStartPre=\S+ \S+ (.*)$/m.exec(text) ?? [];
      const args = words.replace("/var/lib/carquet", data).replace(" $SERVE_OPTIONS", "").split(" ");
      const env = { CARQUET_LAKE: join(data, "lake"), CARQUET_ACCOUNTS: join(data, "accounts.db") };
      assert.deepEqual([args[0], (await carquet(args, { env })).code], ["check", 0], name);
      assert.equal((await carquet([...args, "--public-url", "x"], { env })).code, 1, name);
    }
  });

  test("ingest the queue, and leave a record of how that ended", { skip: skipInShortRun }, async (t) => {
    const data = await temporaryFolder(t);
    const lake = join(data, "lake");
    const queue = join(data, "feeds");
    const { text } = units.find(({ name }) => name === "carquet-ingest.service") ?? assert.fail();
    const words =
      /^ExecStart=\S+ \S+ (.*)$/m.exec(text)?.[1]?.replace("/var/lib/carquet/feeds", queue).split(" ") ?? [];
    const ingest = () => carquet(words, { env: { CARQUET_LAKE: lake } });
    const record = () => JSON.parse(readFileSync(join(lake, "last-ingest.json"), "utf8"));
    for (const day of ["2026-11-18", "2026-11-19"])
      await cp(join(samplePath, day), join(queue, "waiting", day), { recursive: true });
    const { out } = await ingest();
    assert.match(out, /^2026-11-18: .*^2026-11-19: .*^version 2026-11-19\.1: removed 0 days/ms);
    const { at, ...rest } = record();
    assert.deepEqual([rest, Number.isNaN(Date.parse(at))], [{ error: null, waiting: 0, refused: 0 }, false]);
    mkdirSync(join(queue, "waiting", "2026-11-20"));
    const failed = await ingest();
    assert.equal(failed.code, 1);
    assert.match(failed.err, /2026-11-20: no feed files/);
    assert.match(record().error, /2026-11-20: no feed files/);
    assert.equal(record().waiting, 1);
  });

  test("check the accounts file and the lake for damage, and fail if there is any", {
    skip: skipInShortRun,
  }, async (t) => {
    const data = await temporaryFolder(t);
    const lake = join(data, "lake");
    const accounts = join(data, "accounts.db");
    const { text } = units.find(({ name }) => name === "carquet-verify.service") ?? assert.fail();
    const [, script = ""] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(text) ?? [];
    const program = `${process.execPath} ${programPath}`;
    const command = script.replace("/usr/bin/node /opt/carquet/bin/carquet.cjs", program).replaceAll("$$", "$");
    const env = { ...process.env, CARQUET_LAKE: lake, CARQUET_ACCOUNTS: accounts };
    const check = () => run("/bin/sh", ["-c", command], { env });
    await carquet(["ingest", samplePath, "--lake", lake]);
    await carquet(["accounts", "create", "--email", "joe@dealers.example", "--accounts", accounts]);
    await check();
    const { tables } = (await currentManifest(lake)) ?? assert.fail();
    await changeByte(accounts, 110);
    await assert.rejects(check, { code: 1, stdout: /version 2026-11-19\.1 has no faults/ });
    await changeByte(join(lake, tables.listings[0]?.path ?? ""), 1000);
    await assert.rejects(check, { code: 1, stderr: /listings/ });
  });
});

/** Writes the expressions of the dashboard as rules of Prometheus; returns the file. */
async function dashboardRules(scope: Scope): Promise<string> {
  const { panels }: { readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[] } =
    JSON.parse(projectText("deploy/grafana-dashboard.json"));
  const expressions = panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")),
  );
  const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
  const path = join(await temporaryFolder(scope), "rules.yml");
  writeFileSync(path, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
  return path;
}

describe("the tools that read the files accept them", { skip: skipInShortRun }, () => {
  const deploy = (path: string): string => projectPath(`deploy/${path}`);
  const checks: readonly (readonly [program: string, probe: string, arguments: readonly string[]])[] = [
    ["promtool", "--version", ["check", "config", deploy("prometheus/prometheus.yml")]],
    ["promtool", "--version", ["test", "rules", projectPath("test/deploy/alerts.test.yml")]],
    ["kubectl", "kustomize --help", ["kustomize", deploy("kubernetes")]],
    ["docker", "compose version", ["compose", "--file", deploy("compose/compose.yaml"), "config", "--quiet"]],
    ["docker", "compose version", ["compose", "--file", deploy("compose/single.yaml"), "config", "--quiet"]],
  ];
  const env = { ...process.env, POSTGRES_PASSWORD: "x", GRAFANA_PASSWORD: "x" };
  const whyNot = (program: string, probe: string): string | false =>
    spawnSync(program, probe.split(" ")).status !== 0 && `${program} is not installed`;
  for (const [program, probe, words] of checks)
    test(`${program} ${words
      .slice(0, 3)
      .map((word) => basename(word))
      .join(" ")}`, { skip: whyNot(program, probe) }, async () => {
      await run(program, words, { env });
    });
  test("promtool parses the dashboard", { skip: whyNot("promtool", "--version") }, async (t) => {
    await run("promtool", ["check", "rules", await dashboardRules(t)]);
  });
});

/** Returns why packages cannot be installed here; false if they can. */
const whyNoRegistry = (): string | false =>
  spawnSync("npm", ["ping"], { timeout: 20_000 }).status === 0 ? false : "needs the registry of npm";

test("the package starts from an empty folder", { skip: skipInShortRun || whyNoRegistry() }, async (t) => {
  const [project, folder] = await Promise.all([copyProject(t), temporaryFolder(t)]);
  await symlink(await realpath(projectPath("node_modules")), join(project, "node_modules"));
  const [packed] = JSON.parse(
    (await run("npm", ["run", "-s", "package", "--", "--json", "--pack-destination", folder], { cwd: project })).stdout,
  );
  const paths: readonly string[] = packed.files.map(({ path }: { path: string }) => path);
  const folders = new Set(paths.map((path) => path.split("/")[0] ?? ""));
  assert.deepEqual([...folders].filter((name) => !/\.md$|^LICENSE$|^package\.json$/.test(name)).sort(), [
    ...["bin", "data", "deploy", "dist", "docs", "schemas", "src"],
  ]);
  await run("npm", ["init", "--yes"], { cwd: folder });
  await run("npm", ["install", "--ignore-scripts", packed.filename], { cwd: folder });
  const env = { ...process.env, npm_config_offline: "true" };
  const { version } = JSON.parse(projectText("package.json"));
  assert.equal((await run("npx", ["carquet", "--version"], { cwd: folder, env })).stdout.trim(), version);
  const args = ["--listings", "1000", "--days", "2", "--port", "0"];
  const child = spawn(join(folder, "node_modules/.bin/carquet"), ["start", ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"] as const,
  });
  killAtEnd(t, child);
  const { url, lines } = await untilListening(child);
  await assertServes(child, url, lines);
  const compiled = new Set(paths.flatMap((path) => /^dist\/([^/]+)/.exec(path)?.[1] ?? []));
  assert.equal(compiled.size, 3, "the program, the bundles for browsers and their typeface");
  const installed = readdirSync(join(folder, "node_modules/carquet/dist"));
  assert.deepEqual(new Set(installed), compiled, "the program was compiled before it was packed");
});

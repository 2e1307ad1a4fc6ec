/** The command line: help, errors, `sql`, `verify` and `start`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Command } from "commander";
import { dayOf } from "../../src/accounts/clock.ts";
import { plusDays } from "../../src/base/day.ts";
import { textIn } from "../../src/base/json.ts";
import { projectText } from "../../src/base/project-files.ts";
import { deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";
import { writeIngestRecord } from "../../src/lake/ingest-record.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { topCommands } from "../docs/command-list.ts";
import {
  carquet,
  carquetHere,
  eventually,
  killAtEnd,
  parseLog,
  spawnCarquet,
  startServing,
} from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { sendForm } from "../support/http/forms.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { copyLake, createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const empty = join(await temporaryFolder(fileScope), "nothing");

/** Phrases in the help of each command, in order. */
const helpPhrases: readonly (readonly [command: string, says: readonly string[]])[] = [
  [
    "",
    [
      ...[
        "Usage: carquet [options] [command]",
        "--version",
        "Serve: ",
        "start ",
        "fill an empty lake",
        "serve ",
        "serve the API",
      ],
      ...[
        "Feeds: ",
        "generate ",
        "ingest ",
        "ingest feeds and publish",
        "Analysis: ",
        "sql ",
        "Accounts: ",
        "accounts <command>",
      ],
      ...["keys ", "credits ", "tiers ", "ledger ", "Lake: ", "index ", "iceberg ", "verify ", "vacuum "],
      ...["Copies: ", "follow ", "push ", "Shell: ", "completion ", "help "],
    ],
  ],
  ["start", ["Fill an empty lake with a generated market", "--lake", "--port", "--listings"]],
  ["ingest", ["Publishes a version of each day,", "--lake", "CARQUET_LAKE", "--mapping", "--day"]],
  ["serve", ["need an API key", "CARQUET_LAKE", "CARQUET_ACCOUNTS", "CARQUET_HOST", "--tls-cert", "--response-cache"]],
  [
    "sql",
    ["Run a SQL query (DuckDB) over the published version", "active, missing, contenders, sold and ended", "--format"],
  ],
  [
    "accounts",
    ["Safe while the service runs", "create ", "list ", "show ", "status ", "cap ", "low-balance ", "rate-limit "],
  ],
  ["accounts create", ["Create an account", "--accounts", "CARQUET_ACCOUNTS", "--json", "--email", "--tier"]],
  ["keys", ["Only `create` shows the secret", "create ", "list ", "revoke "]],
  ["keys create", ["Create a key", "--account", "--scopes", "inventory.read"]],
  ["credits", ["The ledger is append-only", "add ", "confirm ", "adjust ", "reverse ", "list "]],
  ["credits add", ["Add a credit", "--account", "--usd", "--kind"]],
  ["tiers", ["Review accounts for promotion", "review ", "queue ", "approve ", "decline "]],
  ["ledger", ["Back up, restore, copy and audit", "backup ", "restore ", "copy ", "verify "]],
  ["verify", ["Check the size, checksum and row count of every file", "--lake"]],
];

/** Commands whose help a process prints in the short run too; that of the others is read from their definition, which is the same text. */
const printedInShortRun = ["", "accounts create"];

async function helpOf(command: string): Promise<string> {
  const words = command.split(" ").filter(Boolean);
  if (printedInShortRun.includes(command) || extentOf(false, true)) {
    const { code, out, err } = await carquet([...words, "--help"]);
    assert.deepEqual([code, err], [0, ""]);
    return out;
  }
  let found: Command | undefined;
  let among: readonly Command[] = topCommands;
  for (const word of words) {
    found = among.find((candidate) => candidate.name() === word);
    among = found?.commands ?? [];
  }
  return found?.helpInformation() ?? assert.fail(`no command ${command}`);
}

describe("help", { concurrency: 2 }, () => {
  for (const [command, says] of helpPhrases) {
    test(`carquet ${command} --help describes its commands and options`, async () => {
      const out = await helpOf(command);
      const words = out.replaceAll(/\s+/g, " ");
      let from = 0;
      for (const phrase of says) {
        from = words.indexOf(phrase, from);
        assert.ok(from >= 0, `${phrase}: ${out}`);
      }
    });
  }
});

test("carquet --version prints the version of package.json", async () => {
  const version = textIn(JSON.parse(projectText("package.json")), "version");
  for (const flag of ["--version", "-V"]) {
    const { code, out, err } = await carquet([flag]);
    assert.deepEqual([code, out, err], [0, `${version}\n`, ""]);
  }
});

const query =
  "SELECT make, count(*)::INTEGER AS n, 'a,\"b\"' AS text, NULL AS nothing FROM active WHERE make IN ('Ford', 'Kia') GROUP BY make ORDER BY make";

const printed: readonly (readonly [format: string, out: RegExp])[] = [
  ["table", /^make {2}n +text +nothing\n-{4} {2}-+ {2}-+ {2}-+\nFord {2}\d+ +a,"b"\nKia {3}\d+ +a,"b"\n\(2 rows\)\n$/],
  ["csv", /^make,n,text,nothing\nFord,\d+,"a,""b""",\nKia,\d+,"a,""b""",\n$/],
  ["json", /^\[\n\{"make":"Ford","n":\d+,"text":"a,\\"b\\"","nothing":null\},\n\{"make":"Kia",.*\}\n\]\n$/],
];

describe("carquet sql", () => {
  for (const [format, expected] of printed) {
    test(`prints rows as ${format}`, async () => {
      const { code, out, err } = await carquetHere(["sql", query, "--format", format, "--lake", lake]);
      assert.deepEqual([code, err], [0, ""]);
      assert.match(out, expected);
    });
  }

  test("reads the query from standard input and the lake from the environment", async () => {
    const around = { input: "SELECT count(*)::INTEGER AS n\nFROM active;\n", env: { CARQUET_LAKE: lake } };
    const { code, out, err } = await carquet(["sql", "--format", "csv"], around);
    const [counted] = await queryLake(lake, "SELECT count(*)::INTEGER AS n FROM active");
    assert.deepEqual([code, out, err], [0, `n\n${counted?.n}\n`, ""]);
  });

  test("reports the error in a query", async () => {
    const { code, out, err } = await carquetHere(["sql", "SELECT nonsense FROM active", "--lake", lake]);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /^carquet: Binder Error: [^\n]*"nonsense"[^\n]*\n/);
    assert.doesNotMatch(err, / {4}at |\.ts\b/);
  });

  test("prints the column names of an empty result", async () => {
    const { code, out } = await carquetHere([
      "sql",
      "SELECT id, vin FROM active WHERE false",
      "--format",
      "csv",
      "--lake",
      lake,
    ]);
    assert.deepEqual([code, out], [0, "id,vin\n"]);
  });
});

test("carquet verify reports intact lake without faults", async () => {
  const { code, out, err } = await carquetHere(["verify", "--lake", lake]);
  assert.deepEqual([code, out], [0, `${lake}: version 2026-11-19.1 has no faults.\n`]);
  const [first] = parseLog(err);
  assert.deepEqual([first?.command, first?.title, first?.step], ["verify", "2026-11-19.1", 1]);
});

test("carquet serve without a lake warns, names the command that fills it, and serves the first version", async (t) => {
  const folder = join(await temporaryFolder(t), "lake");
  // A first ingest that failed leaves its record.
  await writeIngestRecord(folder, { at: new Date().toISOString(), error: "no feed files", waiting: 1, refused: 0 });
  const service = await startServing(t, ["serve", "--port", "0", "--lake", folder]);
  const readiness = async (): Promise<number> => (await fetch(`${service.url}/readyz`)).status;
  assert.equal(await readiness(), 503);
  await copyLake(lake, folder);
  while ((await readiness()) !== 200) await sleep(50);
  service.terminate();
  const { err } = await service.ended;
  assert.match(err, /"level":40.*"run":"carquet ingest <path> --lake \S+lake","msg":"no version published/);
});

test("carquet start fills an empty lake, prints a sign-in link, three working requests and then its address", async () => {
  const fresh = join(await temporaryFolder(fileScope), "lake");
  const yesterday = plusDays(dayOf(Date.now()), -1);
  const service = await startServing(fileScope, [
    "start",
    "--port",
    "0",
    "--lake",
    fresh,
    "--accounts",
    join(dirname(fresh), "accounts.db"),
    "--listings",
    "100",
    "--days",
    "2",
  ]);
  const lines = service.announced;
  const days = await queryLake(fresh, "SELECT DISTINCT snapshot_date::VARCHAR AS day FROM active_days ORDER BY day");
  const found = days.map(({ day }) => String(day));
  // Midnight may have passed since.
  const end = found.at(-1) === yesterday ? yesterday : plusDays(yesterday, 1);
  assert.deepEqual(found, [plusDays(end, -1), end], "its days end yesterday");
  assert.equal(lines.at(-1), `listening on ${service.url}`);
  const [, key = ""] = /^export CARQUET_KEY=([\w-]+)$/.exec(lines.at(-3) ?? "") ?? [];
  const pasted = `${lines.at(-3)}\n${lines.at(-2)} -s`;
  const { stdout } = await promisify(execFile)("sh", ["-c", pasted]);
  assert.equal(JSON.parse(stdout).data.length, 3, "the lines of the key and the request can be pasted");
  const { headers } = await fetch(`${service.url}/v1/usage`, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(headers.get("X-RateLimit-Tier"), "tier_4");
  const [link = ""] = lines.flatMap((line) => /signed in to the demo account: (\S+)$/.exec(line)?.[1] ?? []);
  const { origin, searchParams } = new URL(link);
  const signedIn = await sendForm(origin, "/sign-in/link", { token: searchParams.get("token") ?? "" });
  const [cookie = ""] = (signedIn.headers.getSetCookie()[0] ?? "").split(";");
  const explorer = await fetch(`${service.url}${signedIn.headers.get("Location")}`, { headers: { Cookie: cookie } });
  const opened = await explorer.text();
  assert.ok(opened.includes("demo@carquet.invalid"), "the link opens the explorer signed in");
  assert.match(opened, /href="\/operate"/, "the demo shows all doors");
  assert.equal((await fetch(link)).status, 404, "the link works once");
  service.terminate();
  assert.equal((await service.ended).code, 0);

  const env = {
    CARQUET_LAKE: fresh,
    CARQUET_PORT: "0",
    CARQUET_PUBLIC_URL: "https://cars.example",
    CARQUET_LOG_FORMAT: "lines",
  };
  const again = await startServing(fileScope, ["start"], { env });
  assert.deepEqual(
    again.announced.map((line) =>
      line.replace(/^(explore|export|curl|listening) .*?(https:\/\/cars\.example\/|$).*/, "$1 $2"),
    ),
    ["explore https://cars.example/", "export ", "curl https://cars.example/", "listening "],
    "a filled lake is not filled again, and the public URL is printed",
  );
  await fetch(`${again.url}/v1/listings?q=%1B%5B2J`);
  again.terminate();
  const { code, err } = await again.ended;
  assert.equal(code, 0);
  assert.match(err, /^\d\d:\d\d:\d\d {2}version in service {2}version=[\d-]{10}\.1 /m);
  assert.match(err, /^[\d:]{8} {2}401 GET \/v1\/listings\?q=%1B%5B2J [\d.]+ ms {2}code=missing_api_key$/m);
});

test("a flag takes precedence over the environment", async () => {
  const env = { CARQUET_LAKE: empty };
  const { code, out } = await carquetHere(["sql", "SELECT 1 AS one", "--format", "csv", "--lake", lake], { env });
  assert.deepEqual([code, out], [0, "one\n1\n"]);
});

test("carquet start continues to fill a lake where an earlier one was killed", { skip: skipInShortRun }, async () => {
  const half = join(await temporaryFolder(fileScope), "lake");
  const shape = { listings: 100, days: 2, end: "2026-11-19", seed: 1, format: "parquet" } as const;
  const feeds = await generateFeeds(fileScope, shape);
  await ingest(half, await deliveriesAt(join(feeds, "2026-11-18"), undefined), { hasServingFiles: false });
  const marker = join(half, ".filling-demo");
  await writeFile(marker, "100\n");
  const { code, err } = await carquetHere(["start", "--port", "0", "--lake", half]);
  assert.deepEqual(
    [code, err.includes(`Invalid file ${marker}: expected the listings, the days and the last day`)],
    [1, true],
  );
  await writeFile(marker, `100 2 ${shape.end}\n`);
  const service = await startServing(fileScope, ["start", "--port", "0", "--lake", half]);
  service.terminate();
  await service.ended;
  const { days, serving } = (await currentManifest(half)) ?? assert.fail();
  assert.deepEqual(Object.keys(days), ["2026-11-18", "2026-11-19"]);
  assert.ok(serving.length > 0, "it has an index");
  assert.ok(!(await readdir(half)).includes(".filling-demo"));
  // Other data has been ingested where a start was killed before it had published a day.
  await writeFile(marker, "100 3 2026-11-21\n");
  const other = await startServing(fileScope, ["start", "--port", "0", "--lake", half]);
  other.terminate();
  await other.ended;
  assert.deepEqual((await currentManifest(half))?.days, days);
  assert.ok(!(await readdir(half)).includes(".filling-demo"));
});

test("carquet start leaves no feeds behind when a signal ends it", async () => {
  const folder = await temporaryFolder(fileScope);
  const started = spawnCarquet(["start", "--port", "0", "--lake", join(folder, "lake")], { TMPDIR: folder });
  killAtEnd(fileScope, started);
  const feeds = async (): Promise<readonly string[]> =>
    (await readdir(folder)).filter((name) => name.startsWith("carquet-demo-"));
  await eventually("feeds are generated", async () => (await feeds()).length > 0);
  started.kill("SIGINT");
  await once(started, "exit");
  assert.deepEqual([started.signalCode, await feeds()], ["SIGINT", []]);
});

/** Commands that cannot run: each explains why in one line, and changes nothing. */
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type CommandOptions, type CommandResult, carquet, carquetHere } from "../support/command-line.ts";
import { extentOf } from "../support/extent.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const empty = join(await temporaryFolder(fileScope), "nothing");

/** Fails unless a command exited with an error of one line. */
function assertRefused({ code, out, err }: CommandResult, says: RegExp): void {
  assert.ok(code !== null && code > 0, "it exits with an error");
  assert.equal(out, "");
  assert.match(err, /^(carquet: [^\n]+|\{[^\n]+"msg":"run failed"\})\n$/);
  assert.match(err.replaceAll(`\\"`, `"`), says);
  assert.doesNotMatch(err, /EISDIR|ENOTDIR/);
}

const foreign = await temporaryFolder(fileScope);
await writeFile(join(foreign, "photo.jpg"), "x");
const file = join(foreign, "photo.jpg");
const withoutManifest = await temporaryFolder(fileScope);
await writeFile(join(withoutManifest, "CURRENT"), "2026-11-20.1\n");

/** Commands that read a lake, without their option `--lake`. */
const readers = [
  ["serve", "--port", "0"],
  ["start", "--port", "0"],
  ["sql", "SELECT 1"],
  ["verify"],
  ["index"],
  ["iceberg"],
  ["vacuum"],
  ["mcp"],
  ["export", "--output", "-"],
  ["push", join(foreign, "target")],
];

const refused: readonly (readonly [args: readonly string[], says: RegExp, around?: CommandOptions])[] = [
  [["nonsense"], /^carquet: Unknown command 'nonsense': expected a command listed by --help\.\n$/],
  [["serv"], /^carquet: Unknown command 'serv': expected a command listed by --help\. \(Did you mean serve\?\)\n$/],
  [["accounts", "nonsense"], /^carquet: Unknown command 'nonsense': /],
  [["serve", "--nonsense"], /^carquet: Unknown option '--nonsense'/],
  [["serve", "--port", "65536"], /--port.*'65536' is invalid\. Expected a whole number from 0 to 65535\./],
  [["serve"], /'http'.*CARQUET_PORT.*Expected a whole number from 0 to 65535\./, { env: { CARQUET_PORT: "http" } }],
  [["serve", "--port", "0", "--lake", lake, "--threads", "0"], /--threads/],
  [
    ["serve", "--cors-origin", "https://a.example/path"],
    /--cors-origin.*Invalid origin "https:\/\/a\.example\/path": /,
  ],
  [
    ["serve"],
    /CARQUET_CORS_ORIGIN.*Invalid origin "x": expected /,
    { env: { CARQUET_CORS_ORIGIN: "https://a.example,x" } },
  ],
  [["serve", "--port", "0", "--lake", lake, "--memory", "lots"], /lots/],
  [["ingest"], /expected either a path or --queue/],
  [["ingest", "nowhere", "--lake", empty], /nowhere: no such file or folder/],
  [["ingest", "data/sample", "--day", "2026-02-30", "--lake", empty], /--day.*2026-02-30.*YYYY-MM-DD/],
  [["sql", "SELECT 1", "--file", "query.sql"], /Invalid arguments: expected either a query or --file\./],
  [
    ["sql", "--attach", "my-vins=a.csv"],
    /--attach.*'my-vins=a\.csv' is invalid\. Expected a name of letters, digits and _, and a file/,
  ],
  [["sql", "--param", "a=1", "--param", "A=2"], /--param.*'A=2' is invalid\. Expected A once\./],
  [
    ["sql", "--lake", lake, "--file", "nowhere.sql"],
    /Cannot read nowhere\.sql: .*: expected a file of SQL statements\./,
  ],
  [["sql", "SELECT 1", "--lake", empty], /Lake \S+nothing has no published version/],
  [["serve", "--port", "0", "--lake", file], /photo\.jpg: not a folder: expected an empty folder or a lake\./],
  [["verify", "--lake", file], /photo\.jpg: not a folder: expected an empty folder or a lake\./],
  [
    ["ingest", "data/sample", "--lake", file],
    /Cannot create folder .*photo\.jpg.*: expected no file at it or above it\./,
  ],
  [["follow", lake, "--once", "--lake", file], /photo\.jpg: not a folder: expected an empty folder or a lake\./],
  [["follow", file, "--once", "--lake", empty], /photo\.jpg\/CURRENT: a file where a folder is expected/],
  [["fetch", "--sources", foreign, "--queue", empty], /invalid YAML: a folder where a file is expected\./],
  [
    ["ingest", "data/sample", "--lake", empty, "--mapping", foreign],
    /mapping file: a folder where a file is expected\./,
  ],
  [
    ["ingest", "data/sample", "--lake", empty, "--dealers", foreign],
    /a folder where a file is expected: expected a CSV file/,
  ],
  [
    ["sql", "--lake", lake, "--file", foreign],
    /Cannot read \S+: a folder where a file is expected: expected a file of SQL/,
  ],
  [
    ["export", "--lake", lake, "--output", join(file, "a.csv")],
    /photo\.jpg\/a\.csv: a file where a folder is expected\n$/,
  ],
  [
    ["generate", "--out", file, "--listings", "10", "--days", "1", "--end", "2026-01-01", "--seed", "1"],
    /Cannot create folder .*photo\.jpg: expected no file at it or above it\./,
  ],
  [
    ["verify", "--lake", empty],
    /Lake \S+nothing has no published version: expected one published by "carquet ingest <path> --lake \S+nothing"\./,
  ],
];

/** The short run starts a process for an error of each kind only: of arguments, of a command, and of one that a scheduler runs. */
const startsProcess = (args: readonly string[]): boolean =>
  extentOf(false, true) ||
  ["serv", "verify", "ingest nowhere", "export"].some(
    (words) => args.join(" ").startsWith(`${words} `) || args.join(" ") === words,
  );
const refuse = (args: readonly string[], around?: CommandOptions): Promise<CommandResult> =>
  (startsProcess(args) ? carquet : carquetHere)(args, around);

describe("a command that cannot run", () => {
  for (const [args, says, around] of refused) {
    const shownArgs = args.map((arg) => (arg === lake || arg === empty ? "…" : arg)).join(" ");
    test(`explains why in one line: carquet ${shownArgs}`, async () => assertRefused(await refuse(args, around), says));
  }

  for (const words of readers)
    test(`refuses a folder of other files, and writes nothing to it: carquet ${words[0]}`, async () => {
      const says = /not a lake, because it has photo\.jpg: expected an empty folder or a lake\. A lake has CURRENT/;
      assertRefused(await refuse([...words, "--lake", foreign]), says);
      assert.deepEqual(await readdir(foreign), ["photo.jpg"]);
    });

  test("names the manifest that CURRENT names and the lake lacks", async () => {
    assertRefused(
      await refuse(["verify", "--lake", withoutManifest]),
      /2026-11-20\.1\.json: not found: expected the manifest of 2026-11-20\.1, which CURRENT names\./,
    );
  });

  test("a port in use is named before the demo market is generated", async () => {
    const occupied = createServer();
    await new Promise<void>((listening) => occupied.listen(0, "127.0.0.1", listening));
    const address = occupied.address();
    assert.ok(typeof address === "object" && address !== null);
    const fresh = join(await temporaryFolder(fileScope), "fresh");
    try {
      const ended = await carquet(["start", "--lake", fresh, "--port", String(address.port)]);
      assertRefused(ended, new RegExp(`Port ${address.port} of 127\\.0\\.0\\.1 is in use: .*--port or CARQUET_PORT`));
      await assert.rejects(readdir(fresh), { code: "ENOENT" });
    } finally {
      occupied.close();
    }
  });
});

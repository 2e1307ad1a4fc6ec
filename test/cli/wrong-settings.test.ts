/** Wrong settings: every option and path of every command refuses texts that it cannot use, and combinations that cannot work are refused. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Argument, type Command, CommanderError, type Option } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import { checkVariables } from "../../src/cli/variables.ts";
import { runnableCommands, shownOptions } from "../docs/command-list.ts";
import { type CommandResult, carquet, spawnCarquet } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

/** Options and arguments that take any text: ids, names and statements, which are looked up, and locations, which are opened. */
const free = new Set([
  ...[
    "--account",
    "--dealer",
    "--data-version",
    "--public-url",
    "--source",
    "--records",
    "--set",
    "--location",
    "--note",
    "--reference",
    "--name",
    "--file",
  ],
  ...["dealer", "day", "query", "parameters", "key-id", "credit-id", "source", "target"],
]);

/** Texts that no number, size, path, choice or URL can be. */
const wrong = ["", "mysql://x/y"];

const takesValue = (option: Option): boolean => option.required || option.optional;
const nameOf = ({ long, short }: Option): string => long ?? short ?? "";

/** Parses arguments with a command that does nothing; returns its error, if any. */
async function usageErrorOf(words: readonly string[]): Promise<CommanderError | undefined> {
  const program = await createProgram(words);
  program.configureOutput({ writeErr: () => undefined, outputError: () => undefined });
  const silence = (command: Command): void => {
    command.configureOutput({ writeErr: () => undefined, outputError: () => undefined }).action(() => undefined);
    command.commands.forEach(silence);
  };
  program.commands.forEach(silence);
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown;
    throw thrown;
  }
}

describe("a text that an option cannot use", () => {
  for (const { name, command } of runnableCommands()) {
    const options = shownOptions(command).filter((option) => takesValue(option) && !free.has(nameOf(option)));
    if (options.length > 0)
      test(`is refused with code 2: ${name} ${options.map(nameOf).join(" ")}`, async () => {
        for (const option of options)
          for (const text of wrong) {
            const error = await usageErrorOf([...name.split(" "), `${nameOf(option)}=${text}`]);
            const message = error?.message ?? "accepted";
            assert.match(
              message,
              new RegExp(`${nameOf(option)}\\b.*(invalid|missing)`),
              `${name} ${nameOf(option)}=${text}: ${message}`,
            );
            assert.deepEqual([error?.exitCode, message.includes("\n")], [2, false]);
          }
      });
    const paths = command.registeredArguments.filter((argument: Argument) => !free.has(argument.name()));
    if (paths.length > 0)
      test(`is refused as an argument: ${name} ${paths.map((argument) => argument.name()).join(" ")}`, async () => {
        for (const [index] of paths.entries()) {
          const words = paths.map((_, other) => (other === index ? "mysql://x/y" : "file"));
          const account = command.options.some((option) => nameOf(option) === "--account") ? ["--account", "a"] : [];
          const error = await usageErrorOf([...name.split(" "), ...account, ...words]);
          assert.match(error?.message ?? "accepted", /mysql:\/\/x\/y' is invalid/, name);
        }
      });
  }
});

test("the program knows the variables of all its settings, and refuses others with the nearest name", () => {
  const variables = runnableCommands().flatMap(({ command }) =>
    shownOptions(command).flatMap(({ envVar = [] }) => envVar),
  );
  checkVariables(variables);
  const hints: readonly (readonly [variable: string, nearest: string | undefined])[] = [
    ["CARQUET_LAEK", "CARQUET_LAKE"],
    ["CARQUET_ACOUNTS", "CARQUET_ACCOUNTS"],
    ["CARQUET_METRIC_PORT", "CARQUET_METRICS_PORT"],
    ["CARQUET_LOGLEVEL", "CARQUET_LOG_LEVEL"],
    ["CARQUET_MEMORY", undefined],
    ["CARQUET_", undefined],
  ];
  for (const [variable, nearest] of hints)
    assert.throws(() => checkVariables([...variables, variable]), {
      message: `Unknown environment variable ${variable}: expected one that docs/configuration.md lists.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    });
});

const { lake } = await createLake(fileScope);
const folder = await temporaryFolder(fileScope);
const fileAt = (name: string): string => join(folder, name);
/** Creates a certificate; returns the paths of its two files. */
function createPair(name: string): { readonly key: string; readonly cert: string } {
  const pair = { key: fileAt(`${name}.key`), cert: fileAt(`${name}.pem`) };
  const curve = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost".split(" ");
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", pair.key, "-out", pair.cert], { stdio: "ignore" });
  return pair;
}

const { key, cert } = createPair("one");
const otherKey = createPair("other").key;
writeFileSync(fileAt("text"), "a text");
mkdirSync(fileAt("broken/waiting"), { recursive: true });

/** Fails unless a command ended at once with a code and one line. */
function assertOneLine({ code, out, err }: CommandResult, expected: number, says: RegExp): void {
  assert.deepEqual([code, out, err.trimEnd().split("\n").length], [expected, "", 1], err);
  assert.match(err.replaceAll(`\\"`, `"`), says);
}

const service = ["--port", "0", "--lake", lake];
const env = { CARQUET_ACCOUNTS: fileAt("accounts.db") };

const refused: readonly (readonly [
  code: number,
  args: readonly string[],
  says: RegExp,
  env?: Readonly<Record<string, string>>,
])[] = [
  [
    2,
    ["serve", ...service, "--public-url", "cars.example"],
    /Invalid public URL cars\.example: expected an address without a path/,
  ],
  [2, ["serve", ...service, "--public-url", "https://cars.example/api"], /Invalid public URL .*without a path/],
  [
    1,
    ["serve", ...service, "--tls-cert", cert, "--tls-key", otherKey],
    /Invalid TLS pair .*one\.pem and .*other\.key: .*mismatch/,
  ],
  [1, ["serve", ...service, "--tls-cert", cert, "--tls-key", fileAt("none")], /Cannot read .*none: ENOENT/],
  [
    1,
    ["serve", ...service, "--tls-cert", cert, "--tls-key", folder],
    /Cannot read .*: a folder where a file is expected/,
  ],
  [
    1,
    ["serve", ...service, "--tls-cert", fileAt("text"), "--tls-key", key],
    /Invalid TLS pair .*: expected a certificate \(PEM\)/,
  ],
  [2, ["serve", ...service, "--tls-cert", cert], /Incomplete TLS options: expected both --tls-cert and --tls-key\./],
  [1, ["serve", ...service, "--spool", fileAt("text")], /Invalid --spool: .*text is not a folder: expected a folder/],
  [1, ["serve", ...service, "--spool", fileAt("text/below")], /Invalid --spool: .*text is not a folder/],
  [1, ["serve", ...service, "--accounts", fileAt("text/accounts.db")], /Invalid --accounts: .*text is not a folder/],
  [1, ["serve", ...service, "--accounts", fileAt("text")], /text: .*expected|text: cannot be opened as a database/],
  [1, ["serve", ...service, "--accounts", folder], /cannot be opened as a database/],
  [1, ["serve", ...service, "--accounts", "postgres://x@127.0.0.1:1/x"], /ECONNREFUSED/],
  [
    1,
    ["serve", ...service, "--host", "nowhere.invalid"],
    /nowhere\.invalid: expected an address of this machine as --host\./,
  ],
  [2, ["serve", ...service, "--auth", "off", "--host", "0.0.0.0"], /Invalid host 0\.0\.0\.0 for --auth=off/],
  [2, ["serve", ...service, "--memory", "1KiB"], /--memory.*'1KiB' is invalid\. Expected a size from 64MiB to 16TiB/],
  [
    2,
    ["serve", ...service, "--memory", "100TiB"],
    /--memory.*'100TiB' is invalid\. Expected a size from 64MiB to 16TiB/,
  ],
  [2, ["serve", ...service, "--spool-size", "1"], /--spool-size.*'1' is invalid\. Expected a size from 16MiB to 16TiB/],
  [2, ["serve", ...service, "--memory", "0%"], /--memory.*'0%' is invalid/],
  [2, ["serve", ...service, "--export-memory", "150%"], /--export-memory.*'150%' is invalid/],
  [
    2,
    ["serve", ...service, "--host", "127.0.0.1:80"],
    /--host.*'127\.0\.0\.1:80' is invalid\. Expected a name or an address without a port/,
  ],
  [
    2,
    ["serve", ...service],
    /Invalid CARQUET_LOG_LEVEL "loud": expected one of trace, debug, info, /,
    { CARQUET_LOG_LEVEL: "loud" },
  ],
  [
    2,
    ["serve", ...service],
    /Invalid CARQUET_LOG_FORMAT "xml": expected one of lines, json\./,
    { CARQUET_LOG_FORMAT: "xml" },
  ],
  [2, ["mcp", "--lake", lake], /Invalid CARQUET_LOG_LEVEL "loud"/, { CARQUET_LOG_LEVEL: "loud" }],
  [
    2,
    ["serve", ...service],
    /Unknown environment variable CARQUET_LAEK: .* Did you mean CARQUET_LAKE\?/,
    { CARQUET_LAEK: "x" },
  ],
  [
    2,
    ["accounts", "list"],
    /Unknown environment variable CARQUET_ACCOUNT: .* Did you mean CARQUET_ACCOUNTS\?/,
    { CARQUET_ACCOUNT: "x" },
  ],
  [
    2,
    ["accounts", "list", "--accounts", "mysql://x/y"],
    /'mysql:\/\/x\/y' is invalid\. Expected a path, or a URL such as postgres:/,
  ],
  [1, ["run", ...service, "--sources", fileAt("none")], /none: file of sources not found\./],
  [1, ["run", ...service, "--sources", fileAt("text"), "--queue", fileAt("queue")], /text: /],
  [2, ["ingest", "data/sample", "--queue", "feeds"], /Invalid arguments: expected either a path or --queue\./],
  [2, ["ingest", "--queue", "feeds", "--day", "2026-11-20"], /--queue.*cannot be used with.*--day/],
  [2, ["ingest", "data/sample", "--mapping", "m.json", "--preset", "vauto"], /--mapping|--preset/],
  [2, ["map"], /Invalid arguments: expected a file to map, or --mapping and --check\./],
  [2, ["follow"], /No source: expected a location as argument, or CARQUET_SOURCE\./],
  [2, ["vacuum", "--months", "0"], /--months.*'0' is invalid/],
  [2, ["nonsense"], /Unknown command 'nonsense'/],
  [2, ["verify", "--nonsense"], /Unknown option '--nonsense'/],
  [2, ["release"], /[Mm]issing required argument 'dealer'/],
];

describe("what cannot work ends at once, with one line", { concurrency: 2 }, () => {
  for (const [index, [code, args, says, more]] of refused.entries()) {
    const shown = args.map((arg) => arg.replace(folder, "…").replace(lake, "…")).join(" ");
    const skip = index % 12 === 0 ? false : skipInShortRun;
    test(`carquet ${shown} ${Object.keys(more ?? {}).join(" ")}`, { skip }, async () => {
      assertOneLine(await carquet(args, { env: { ...env, ...more } }), code, says);
    });
  }

  test("and creates no file of another name", () => {
    assert.ok(!existsSync("mysql:") && !existsSync(env.CARQUET_ACCOUNTS.replace("accounts.db", "mysql:")));
  });

  test("a signal ends a service that is still starting", async () => {
    // A database that accepts connections and never replies.
    const silent = createServer();
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
    const address = silent.address();
    assert.ok(typeof address === "object" && address !== null);
    const accounts = `postgres://x@127.0.0.1:${address.port}/x`;
    const child = spawnCarquet(["serve", ...service, "--accounts", accounts], {});
    const connected = new Promise((resolve) => silent.once("connection", resolve));
    await connected;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [null, "SIGTERM"]);
    silent.close();
  });
});

/**
 * A terminal for the commands of a page: a shell in a temporary folder that looks like the project's, with `npm` and `curl` in its path
 * that run this checkout and ask the service of this test. Variables live on from one command to the next. A command that serves runs in
 * the background from its `listening on` line until the next one or the end.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { createAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { programPath, projectPath } from "../../src/base/project-files.ts";
import { type CommandResult, type ServeProcess, startServing } from "../support/command-line.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

/** A command's output, and the status of each response that `curl` received. */
export interface TerminalResult extends CommandResult {
  readonly statuses: readonly number[];
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** `npm run -s carquet -- ...`; any other use of npm fails. */
const npm = `#!/bin/sh
[ "$1 $2 $3 $4" = "run -s carquet --" ] || { echo "npm $*: not a command of this test" >&2; exit 1; }
shift 4
exec ${quoted([process.execPath, programPath])} "$@"
`;

/** Asks the service of this test wherever the documentation says port 8080, and writes each status to standard error. */
const curl = `#!/bin/sh
url=$(cat "$DOCS_FOLDER/url") || exit 1
for argument do
  shift
  set -- "$@" "$(printf '%s' "$argument" | sed "s#https\\{0,1\\}://127\\.0\\.0\\.1:8080#$url#g")"
done
PATH=$DOCS_PATH exec curl -sS -w '%{stderr}HTTP %{http_code}\\n' "$@"
`;

/** A command that serves, and its arguments; an `npm ci` before it has been run already. */
const servingCommand =
  /^(?:npm ci(?: --omit=dev)? && )?(?:npm (start)(?: --)?|npm run -s carquet -- (serve|start))(?= |$)(.*)$/;

export class Terminal {
  private service: ServeProcess | undefined;

  private constructor(
    private readonly scope: Scope,
    private readonly folder: string,
    private env: Readonly<Record<string, string>>,
  ) {}

  /** Opens a terminal, with copies of lakes by their paths in its folder. */
  static async open(scope: Scope, lakes: Readonly<Record<string, string>> = {}): Promise<Terminal> {
    const folder = await temporaryFolder(scope);
    await mkdir(join(folder, "data"));
    await mkdir(join(folder, "bin"));
    for (const path of ["data/sample", "data/mappings", "schemas", "test"])
      await symlink(projectPath(path), join(folder, path));
    for (const [path, lake] of Object.entries(lakes))
      await cp(lake, join(folder, path), { recursive: true, verbatimSymlinks: true });
    for (const [name, script] of Object.entries({ npm, curl })) {
      await writeFile(join(folder, "bin", name), script);
      await chmod(join(folder, "bin", name), 0o755);
    }
    const path = process.env.PATH ?? "/usr/bin:/bin";
    const env = { PATH: `${join(folder, "bin")}:${path}`, DOCS_PATH: path, DOCS_FOLDER: folder, HOME: folder };
    const terminal = new Terminal(scope, folder, env);
    onScopeEnd(scope, () => terminal.stop());
    return terminal;
  }

  /** The lake of `sql` blocks. */
  get lake(): string {
    return resolve(this.folder, this.env.CARQUET_LAKE ?? "data/lake-sample");
  }

  /** Runs one command; one that serves is left running, and its output is that printed by then. */
  async run(command: string): Promise<TerminalResult> {
    const [, started, carquet, rest = ""] = servingCommand.exec(command) ?? [];
    const name = started ?? carquet;
    return name === undefined ? this.shell(command) : await this.serve(name, rest.split(" ").filter(Boolean));
  }

  /** Stops the service; fails unless it ends well. */
  async stop(): Promise<void> {
    const { service } = this;
    if (service === undefined) return;
    this.service = undefined;
    service.terminate();
    const { code, err } = await service.ended;
    if (code !== 0) throw new Error(`The service ended with code ${code}: ${err}`);
  }

  private async serve(name: string, args: readonly string[]): Promise<TerminalResult> {
    await this.stop();
    const accounts = resolve(this.folder, this.env.CARQUET_ACCOUNTS ?? "data/accounts.db");
    if (!existsSync(accounts)) await (await createAccounts(accounts, { busyMs: 5000 })).close();
    const lake = resolve(this.folder, this.env.CARQUET_LAKE ?? "data/lake");
    const env = { CARQUET_LAKE: lake, CARQUET_ACCOUNTS: accounts, CARQUET_PORT: "0" };
    const located = args.map((arg) => (existsSync(join(this.folder, arg)) ? join(this.folder, arg) : arg));
    this.service = await startServing(this.scope, [name, ...located], { env });
    await writeFile(join(this.folder, "url"), this.service.url);
    const out = this.service.announced.join("\n");
    const [, demoKey] = /export CARQUET_KEY=(cq_live_[\w-]+)/.exec(out) ?? [];
    this.env = {
      CARQUET_KEY: demoKey ?? this.service.customer.key,
      ...(demoKey === undefined ? this.env : without(this.env)),
    };
    return { code: 0, out, err: "", statuses: [] };
  }

  private async shell(command: string): Promise<TerminalResult> {
    const variables = join(this.folder, "variables");
    const script = `set -a\n${command}\nstatus=$?\nenv -0 > '${variables}'\nexit $status`;
    const child = spawn("sh", ["-c", script], { cwd: this.folder, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((end) => child.once("close", end));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (existsSync(variables)) this.env = variablesIn(await readFile(variables, "utf8"));
    const statuses = [...err.matchAll(/^HTTP (\d{3})$/gm)].map(([, status]) => Number(status));
    return { code, out, err, statuses };
  }
}

/** A shell's variables without the key of a service before. */
function without({ CARQUET_KEY: _, ...env }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return env;
}

/** The variables in the output of `env -0`. */
function variablesIn(output: string): Readonly<Record<string, string>> {
  const pairs = output.split("\0").filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

/**
 * PostgreSQL for tests: a server for each test file, in a temporary folder, over a Unix socket. Its programs are those of the PATH or of
 * Debian's package; without them, tests of PostgreSQL are skipped.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { postgresPrograms, postgresUser } from "../../bench/servers/postgres.ts";
import { connectPostgres } from "../../src/db/postgres.ts";
import { ident, sql } from "../../src/db/sql.ts";
import { useAndClose } from "../../src/db/sql-database.ts";
import { eventually } from "./eventually.ts";
import { cachedFolder } from "./lakes/cache.ts";
import { groupScope, onScopeEnd, type Scope } from "./scope.ts";

const run = promisify(execFile);

const binaries = postgresPrograms();

/** The `skip` option of tests of PostgreSQL. */
export const skipWithoutPostgres =
  binaries === undefined && "no PostgreSQL: expected initdb on the PATH or in /usr/lib/postgresql";

const programOf = (name: string): string => join(binaries ?? "", name);

/** Settings for a fast start and little memory. Tests do not cut the power: written data survives a crash without fsync. */
const settings = ["fsync=off", "listen_addresses=", "max_connections=200", "shared_buffers=16MB"];

export class PostgresServer {
  private process: ChildProcess | undefined;

  private constructor(readonly folder: string) {}

  /** Starts a server, which stops when the scope ends. */
  static async start(scope: Scope): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), "carquet-postgres-"));
    onScopeEnd(scope, () => rm(folder, { recursive: true, force: true }));
    const user = postgresUser();
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    await run("cp", ["-a", await emptyCluster(), join(folder, "data")]);
    const server = new PostgresServer(folder);
    onScopeEnd(scope, () => server.crash());
    await server.restart();
    return server;
  }

  /** The URL of the default database. */
  get url(): string {
    return `postgres://carquet@${encodeURIComponent(this.folder)}/postgres`;
  }

  /** Starts a server that has crashed. */
  async restart(): Promise<void> {
    const data = join(this.folder, "data");
    const status = join(data, "postmaster.pid");
    await rm(status, { force: true });
    const options = settings.flatMap((setting) => ["-c", setting]);
    const started = spawn(programOf("postgres"), ["-D", data, "-k", this.folder, ...options], {
      ...postgresUser(),
      stdio: "ignore",
    });
    this.process = started;
    await eventually(
      "the server is ready",
      async () => existsSync(status) && /^ready/m.test(readFileSync(status, "utf8")),
      30_000,
    );
  }

  /**
   * Ends the server at once, without a checkpoint: all its processes (`SIGQUIT`), or the first one, whose death the others notice
   * (`SIGKILL`).
   */
  async crash(signal: "SIGQUIT" | "SIGKILL" = "SIGQUIT"): Promise<void> {
    const { process: running } = this;
    this.process = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const children = childrenOf(running.pid);
    running.kill("SIGCONT");
    running.kill(signal);
    await once(running, "exit");
    // Two servers on one data folder would damage it.
    await eventually("its processes have ended", async () => !children.some(isRunning));
  }

  /** Stops all processes of the server silently until `resume`. */
  suspend(): void {
    for (const pid of this.processes) process.kill(pid, "SIGSTOP");
  }

  resume(): void {
    for (const pid of this.processes) process.kill(pid, "SIGCONT");
  }

  /** The first process and its children. */
  private get processes(): readonly number[] {
    const pid = this.process?.pid;
    return pid === undefined ? [] : [pid, ...childrenOf(pid)];
  }
}

/** Returns the ids of the running processes that a process has started. */
export function childrenOf(pid: number | undefined): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

/** Returns false if a process has ended, also while its parent has not yet learned of it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Returns a data folder as `initdb` creates it. */
const emptyCluster = (): Promise<string> =>
  cachedFolder("postgres-cluster", async (folder) => {
    const user = postgresUser();
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const flags = ["--username=carquet", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync"];
    await run(programOf("initdb"), [...flags, "-D", folder], { ...user, cwd: tmpdir() });
  });

let shared: Promise<PostgresServer> | undefined;
let isShared = false;
let schemas = 0;

/** Lets all tests of the group share a server. Called while tests are defined: within a test, its end would be that of the server. */
export function stopServerAtEnd(): void {
  if (!isShared) onScopeEnd(groupScope, async () => undefined);
  isShared = true;
}

/** Returns the URL of an empty schema: on the server that the tests of the group share, else on one for the scope. */
export async function temporaryPostgresUrl(scope: Scope): Promise<string> {
  if (!isShared) return emptySchemaOn(await PostgresServer.start(scope));
  shared ??= PostgresServer.start(groupScope);
  return emptySchemaOn(await shared);
}

/** Creates a schema on a server. Returns the URL of connections that use it. */
export async function emptySchemaOn({ url }: PostgresServer): Promise<string> {
  schemas += 1;
  const schema = `test_${schemas}`;
  await useAndClose(connectPostgres(url, { busyMs: 1000 }), (database) =>
    database.run(sql`CREATE SCHEMA ${ident(schema)}`),
  );
  return `${url}?options=-csearch_path%3D${schema}`;
}

/**
 * PostgreSQL as a measured server: in a folder, over a Unix socket, as durable as by default. Its programs are those of Debian's package or
 * of the PATH.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { UserError } from "../../src/base/user-error.ts";
import { processorMsOf } from "./process.ts";

const run = promisify(execFile);

export interface PostgresProcess {
  readonly url: string;
  /** For example `PostgreSQL 15.14`. */
  readonly version: string;
  /** User and system time so far of all processes of the server; NaN if unknown. */
  readonly processorMs: () => number;
  /** The files of the server, on the disk that is measured. */
  readonly folder: string;
  stop(): Promise<void>;
}

/** Returns the folder of the programs of the newest server; undefined without one. */
export function postgresPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** The server refuses to run as root: then it runs as the user of Debian's package, or as user 65534. */
export function postgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid = "65534", gid = "65534"] =
    /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Defaults, except for the size of the buffers and the number of connections: `fsync` and `synchronous_commit` are on. */
const settings = ["listen_addresses=", "max_connections=200", "shared_buffers=256MB"];
const startMs = 30_000;
const pauseMs = 50;

/** Starts a server with an empty database in a temporary folder; `more` are further settings. Throws a `UserError` if its programs are not installed. */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresProcess> {
  const programs = postgresPrograms();
  if (programs === undefined)
    throw new UserError("No PostgreSQL: expected initdb in /usr/lib/postgresql or on the PATH.");
  const folder = await mkdtemp(join(tmpdir(), "carquet-postgres-"));
  const user = postgresUser();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const flags = ["--username=carquet", "--auth=trust", "--no-locale", "--encoding=UTF8"];
  await run(join(programs, "initdb"), [...flags, "-D", data], { ...user, cwd: folder });
  const options = [...settings, ...more].flatMap((setting) => ["-c", setting]);
  const server = spawn(join(programs, "postgres"), ["-D", data, "-k", folder, ...options], {
    ...user,
    stdio: "ignore",
  });
  const kill = (): boolean => server.kill("SIGQUIT");
  process.once("exit", kill);
  await awaitReady(join(data, "postmaster.pid"));
  const { stdout } = await run(join(programs, "postgres"), ["--version"]);
  return {
    url: `postgres://carquet@${encodeURIComponent(folder)}/postgres`,
    version: `PostgreSQL ${/[\d.]+/.exec(stdout)?.[0] ?? ""}`,
    processorMs: () => processorMsOf(server.pid ?? 0),
    folder,
    async stop() {
      process.off("exit", kill);
      const exited = once(server, "exit");
      server.kill("SIGINT");
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

/** Waits until the status file of a server says that it accepts connections. */
async function awaitReady(status: string): Promise<void> {
  const deadlineMs = performance.now() + startMs;
  while (!existsSync(status) || !/^ready/m.test(readFileSync(status, "utf8"))) {
    if (performance.now() > deadlineMs)
      throw new UserError("PostgreSQL does not start: expected it to be ready in 30 s.");
    await sleep(pauseMs);
  }
}

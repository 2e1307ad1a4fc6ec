/** Replicas behind nginx, with accounts in PostgreSQL and a lake that a follower keeps equal to a published one: all of them real processes. */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createAccounts } from "../../../src/accounts/storage/open-accounts.ts";
import { programPath } from "../../../src/base/project-files.ts";
import { currentVersion } from "../../../src/lake/manifest.ts";
import { carquet, eventually, type ServeProcess, spawnCarquet, startServing } from "../command-line.ts";
import { type NginxProcess, startNginx } from "../http/nginx.ts";
import { createLake, samplePath, temporaryFolder } from "../lakes/lakes.ts";
import { emptySchemaOn, PostgresServer } from "../postgres.ts";
import { createTestFollower } from "../replication/followers.ts";
import { onScopeEnd, type Scope } from "../scope.ts";

const firstDay = "2026-11-18";
const lastDay = "2026-11-19";

/** Longer than nginx keeps idle connections: as deployed. */
const drainDelaySeconds = "2.5";

/** File descriptors and threads of a process. */
export interface ProcessResources {
  readonly files: number;
  readonly threads: number;
}

export class ReplicaGroup {
  private follower: ChildProcess | undefined;
  private hasLastDay = false;

  private constructor(
    private readonly scope: Scope,
    readonly postgres: PostgresServer,
    /** The URL of the accounts. */
    readonly accounts: string,
    /** The published lake, and its followed copy. */
    readonly lakes: { readonly source: string; readonly copy: string },
    readonly services: ServeProcess[],
    readonly nginx: NginxProcess,
  ) {}

  /** Starts everything, until the scope ends. */
  static async start(scope: Scope, replicas: number): Promise<ReplicaGroup> {
    const postgres = await PostgresServer.start(scope);
    const accounts = await emptySchemaOn(postgres);
    await (await createAccounts(accounts, { busyMs: 5000 })).close();
    const { lake: source } = await createLake(scope, samplePath, { day: firstDay });
    const lakes = { source, copy: join(await temporaryFolder(scope), "copy") };
    await createTestFollower(source, lakes.copy).follow();
    const services = await Promise.all(
      Array.from({ length: replicas }, () => startReplica(scope, { accounts, lake: lakes.copy })),
    );
    const nginx = await startNginx(
      scope,
      services.map(({ url }) => url),
    );
    const group = new ReplicaGroup(scope, postgres, accounts, lakes, services, nginx);
    group.follow();
    onScopeEnd(scope, () => group.killFollower());
    return group;
  }

  /** Starts a replica again, on its port, when its process has ended. */
  async restart(index: number, program = programPath): Promise<void> {
    const ended = this.service(index);
    await ended.ended;
    const { port } = new URL(ended.url);
    const options = { accounts: this.accounts, lake: this.lakes.copy };
    this.services[index] = await startReplica(this.scope, { ...options, port, program });
  }

  service(index: number): ServeProcess {
    const service = this.services[index];
    assert.ok(service, `replica ${index}`);
    return service;
  }

  follow(program = programPath): void {
    const args = ["follow", this.lakes.source, "--lake", this.lakes.copy, "--interval", "0.2", "--threads", "1"];
    this.follower = spawnCarquet(args, {}, { program });
    for (const stream of [this.follower.stdout, this.follower.stderr]) stream?.resume();
  }

  async killFollower(): Promise<void> {
    const { follower } = this;
    this.follower = undefined;
    if (follower === undefined || follower.exitCode !== null) return;
    follower.kill("SIGKILL");
    await once(follower, "exit");
  }

  /** Publishes the next version of the lake: the second day, and then that day again. */
  async publish(program = programPath): Promise<void> {
    const path = join(samplePath, lastDay);
    const which = this.hasLastDay ? ["--replay-from", lastDay] : ["--day", lastDay];
    const args = [
      "ingest",
      this.hasLastDay ? samplePath : path,
      "--lake",
      this.lakes.source,
      "--threads",
      "1",
      ...which,
    ];
    const { code, err } = await carquet(args, { program });
    assert.equal(code, 0, err);
    this.hasLastDay = true;
  }

  /** Waits until all replicas serve the published version. */
  async isServed(): Promise<void> {
    const version = await currentVersion(this.lakes.source);
    for (const { url } of this.services)
      await eventually(`${url} serves ${version}`, async () => (await readiness(url)).version === version, 60_000);
  }

  get resources(): readonly ProcessResources[] {
    return this.services.map(({ pid }) => ({
      files: readdirSync(`/proc/${pid}/fd`).length,
      threads: readdirSync(`/proc/${pid}/task`).length,
    }));
  }
}

interface ReplicaSettings {
  readonly accounts: string;
  readonly lake: string;
  readonly port?: string;
  readonly program?: string;
}

/** Starts a replica whose charges survive a crash of PostgreSQL. */
function startReplica(scope: Scope, { accounts, lake, port = "0", program }: ReplicaSettings) {
  const args = ["serve", "--port", port, "--lake", lake, "--charge-flush", "each", "--trust-proxy"];
  const env = { CARQUET_ACCOUNTS: accounts, CARQUET_LOG_LEVEL: "warn", CARQUET_DRAIN_DELAY: drainDelaySeconds };
  const limits = ["--threads", "1", "--memory", "512MiB"];
  return startServing(scope, [...args, ...limits], { env, ...(program === undefined ? {} : { program }) });
}

/** Returns the report of a replica. */
export async function readiness(url: string): Promise<{ readonly isReady: boolean; readonly version: string | null }> {
  const response = await fetch(`${url}/readyz`);
  const { version } = (await response.json()) as { version: string | null };
  return { isReady: response.ok, version };
}

/** `carquet serve`: serves the API of a lake until SIGTERM or SIGINT. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import pino, { type Logger } from "pino";
import { redactKeys } from "../../accounts/keys/api-key.ts";
import { type Replica, shareOf } from "../../accounts/policy/replica.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { serve } from "../../http/server.ts";
import type { ExportSettings, ServeOptions } from "../../http/service/service-state.ts";
import { currentPath } from "../../lake/manifest.ts";
import { firstIngest, requireLakeFolder } from "../../lake/published-lake.ts";
import { mountAgents } from "../../mcp/mount-agents.ts";

import { mountSite } from "../../web/site.ts";
import { type CertificateFiles, readCertificate, watchCertificate } from "../certificate-files.ts";
import { LogDestination } from "../log-destination.ts";
import {
  accountRequestsOption,
  accountsOption,
  answersOption,
  connectionsPerAddressOption,
  deadlineOption,
  drainDelayOption,
  drainTimeoutOption,
  type EngineSettings,
  type ExportLimitSettings,
  engineOptions,
  exportOptions,
  hostOption,
  lakeOption,
  memoryOption,
  metricsPortOption,
  overdueAfterOption,
  portOption,
  publicUrlOption,
  replicaOption,
  responseCacheOption,
  retiredOptions,
  scrubOption,
  threadsOption,
  tlsCertOption,
  tlsKeyOption,
  trustProxyOption,
} from "../options.ts";

export interface ServeSettings extends EngineSettings, ExportLimitSettings {
  readonly lake: string;
  readonly accounts: string;
  readonly replica: Replica;
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly trustProxy?: number;
  readonly connectionsPerAddress: number;
  readonly responseCache: number;
  readonly scrub: number;
  readonly accountRequests: number;
  readonly deadline: number;
  readonly drainDelay: number;
  readonly drainTimeout: number;
  readonly metricsPort?: number;
  readonly overdueAfter: number;
}

/** Adds the options of `serve` to a command. */
export const addServeOptions = (command: Command): Command =>
  [
    lakeOption(),
    accountsOption(),
    replicaOption(),
    hostOption(),
    portOption(),
    publicUrlOption(),
    tlsCertOption(),
    tlsKeyOption(),
    trustProxyOption(),
    connectionsPerAddressOption(),
    drainDelayOption(),
    drainTimeoutOption(),
    metricsPortOption(),
    overdueAfterOption(),
    threadsOption(),
    memoryOption(),
    responseCacheOption(),
    accountRequestsOption(),
    deadlineOption(),
    ...exportOptions(),
    answersOption(),
    scrubOption(),
    ...retiredOptions(),
  ].reduce((extended, option) => extended.addOption(option), command);

export const serveCommand = (): Command =>
  addServeOptions(new Command("serve"))
    .description(
      "Serve the API. Serves the published version of the lake and switches to each later one without a restart. Prints " +
        "`listening on URL` when ready; logs JSON lines to standard error. SIGTERM and SIGINT stop it after the requests in flight. " +
        "Requests need an API key, except for the documentation and the health checks, and are charged to the account in the accounts " +
        "file, which is created if it does not exist, or in PostgreSQL, which several services share.",
    )
    .action(async (settings: ServeSettings) => {
      await serveUntilStopped(settings);
    });

/** Serves until a signal stops it. Prints the lines of `announce`, then `listening on URL`. */
export async function serveUntilStopped(
  settings: ServeSettings,
  announce: (url: string) => readonly string[] = () => [],
): Promise<void> {
  const destination = new LogDestination((lines) => logger.warn({ lines }, "log lines dropped"));
  const level = process.env.CARQUET_LOG_LEVEL ?? "info";
  // Whole lines, because a request can carry an API key in any of its parts, and an exception can quote it.
  const logger = pino({ level, hooks: { streamWrite: redactKeys } }, destination);
  const { lake, accounts, host, port, trustProxy, connectionsPerAddress, responseCache, scrub } = settings;
  const files = certificateFilesOf(settings);
  await requireLakeFolder(lake);
  const stopSignal = receiveStopSignal();
  const service = await serve({
    ...{ lake, accounts, host, port, connectionsPerAddress, logger, responseCacheBytes: responseCache * 2 ** 20 },
    ...(scrub === 0 ? {} : { scrub: { bytesPerHour: scrub * 2 ** 20 } }),
    ...{ ...limitsOf(settings), ...engineOptions(settings) },
    ...(trustProxy === undefined ? {} : { trustedProxies: trustProxy }),
    ...(files === undefined ? {} : { tls: readCertificate(files) }),
    ...{ ...siteOptions(settings), overdueMs: settings.overdueAfter * 3_600_000 },
    ...{ metricsPort: settings.metricsPort, droppedLogLines: () => destination.droppedLines },
    ...{ drainDelayMs: settings.drainDelay * 1000, drainTimeoutMs: settings.drainTimeout * 1000 },
  });
  warnOfEmptyLake(lake, logger);
  if (files !== undefined) watchCertificate(files, service.replaceCertificate, logger);
  if (service.metricsUrl !== undefined) logger.info({ url: service.metricsUrl }, "serving metrics");
  for (const line of announce(settings.publicUrl ?? service.url)) process.stdout.write(`${line}\n`);
  process.stdout.write(`listening on ${service.url}\n`);
  await stopSignal;
  try {
    await service.stop();
    logger.info("stopped");
    // A write that standard error never accepts would keep the process running.
    if (!(await destination.close())) process.exit();
  } catch (thrown) {
    logger.fatal({ message: messageOf(thrown) }, "not stopped; killing the process");
    await destination.close();
    // A thread that waits for the disk would hold up a regular exit.
    process.kill(process.pid, "SIGKILL");
  }
}

function warnOfEmptyLake(lake: string, logger: Logger): void {
  if (existsSync(currentPath(lake))) return;
  logger.warn({ lake, run: firstIngest(lake) }, "no version published; waiting for the first one");
}

/** What is served beside the API, and under which URL. */
const siteOptions = ({ publicUrl }: ServeSettings): Pick<ServeOptions, "mountSite" | "publicUrl"> => ({
  mountSite: (app, services) => {
    mountAgents(app, services);
    mountSite(app, services);
  },
  ...(publicUrl === undefined ? {} : { publicUrl }),
});

/** Returns the limits of requests and exports, and the replica's number; those of an account are the replica's share. */
const limitsOf = (
  settings: ServeSettings,
): Pick<ServeOptions, "concurrentRequests" | "deadlineMs" | "exports" | "replica"> => ({
  concurrentRequests: shareOf(settings.accountRequests, settings.replica),
  ...{ deadlineMs: settings.deadline * 1000, exports: exportLimits(settings), replica: settings.replica },
});

const exportLimits = ({ spool, replica, ...settings }: ServeSettings): Partial<ExportSettings> => ({
  ...{
    writtenMax: settings.exports,
    accountMax: shareOf(settings.accountExports, replica),
    memory: settings.exportMemory,
  },
  ...{ deadlineMs: settings.exportDeadline * 1000, bytesMax: settings.spoolSize },
  ...(spool === undefined ? {} : { folder: spool }),
});

/** Returns the files of the certificate and its private key. Throws a UserError if only one is set. */
function certificateFilesOf({ tlsCert, tlsKey }: ServeSettings): CertificateFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UserError("Incomplete TLS options: expected both --tls-cert and --tls-key.");
  return { cert: tlsCert, key: tlsKey };
}

/** Resolves on SIGTERM or SIGINT. A second signal exits at once. */
function receiveStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        resolve();
      });
    }
  });
}

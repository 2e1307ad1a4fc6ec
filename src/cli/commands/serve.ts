/** `carquet serve`: serves the API of a lake until SIGTERM or SIGINT. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import pino from "pino";
import { redactKeys } from "../../accounts/keys/api-key.ts";
import { endNow, exitOnSignals } from "../../base/exits.ts";
import { messageOf } from "../../base/user-error.ts";
import { serve } from "../../http/server.ts";
import { requireFreePort } from "../../http/service/http-server.ts";
import type { ServeOptions } from "../../http/service/service-state.ts";
import { currentPath } from "../../lake/manifest.ts";
import { firstIngest } from "../../lake/published-lake.ts";
import { mountAgents } from "../../mcp/mount-agents.ts";
import { agentChartPage, drawAnswer } from "../../web/charts/agent-charts.tsx";
import { mountSite } from "../../web/site.ts";
import { certificateFilesOf, readCertificate, watchCertificate } from "../certificate-files.ts";
import { type CheckedSettings, requireStartable, spaceChecks } from "../checks.ts";
import { logFormat, logLevel, openLog, readableLine } from "../log.ts";
import { columnMemory, engineMemory, type MemorySettings } from "../memory-budget.ts";
import { type ServiceValues, serviceSettings } from "../service-settings.ts";
import { addSettings } from "../settings.ts";

export const serveCommand = (): Command =>
  addSettings(new Command("serve"), serviceSettings)
    .description(
      "Serve the API. Serves the published version of the lake and switches to each later one without a restart. Prints " +
        "`listening on URL` when ready; logs to standard error: JSON lines, or lines for people on a terminal. SIGTERM and SIGINT stop it after the requests in flight. " +
        "Requests need an API key, except for the documentation and the health checks, and are charged to the account in the accounts " +
        "file, which is created if it does not exist, or in PostgreSQL, which several services share.",
    )
    .action(async (settings: ServiceValues) => {
      await serveUntilStopped(settings);
    });

/** Serves until a signal stops it. Prints the lines of `announce`, then `listening on URL`. */
export async function serveUntilStopped(
  settings: CheckedSettings &
    Pick<ServeOptions, "demoAccountId" | "demoKey" | "queue" | "sourceMappings"> &
    Pick<MemorySettings, "ingestMemory">,
  announce: (url: string) => readonly string[] = () => [],
): Promise<void> {
  await requireStartable(settings);
  await requireFreePort(settings.host, settings.port);
  const lineOf = logFormat() === "lines" ? readableLine : (line: string): string => line;
  const log = openLog((lines) => logger.warn({ lines }, "log lines dropped"));
  // Whole lines, because a request can carry an API key in any of its parts, and an exception can quote it.
  const logger = pino(
    { level: logLevel(), hooks: { streamWrite: (line) => lineOf(redactKeys(line)) } },
    log.destination,
  );
  const { lake } = settings;
  const files = certificateFilesOf(settings);
  for (const [, find] of spaceChecks(settings))
    await Promise.resolve(find()).catch((thrown: unknown) =>
      logger.warn({ error: messageOf(thrown) }, "disk nearly full"),
    );
  const stopSignal = receiveStopSignal();
  const service = await serve({
    ...settings,
    ...limitsOf(settings),
    logger,
    mountSite: mountPages,
    isOpen: settings.auth === "off",
    memoryLimit: engineMemory(settings),
    columnBytes: columnMemory(),
    isExplorerFree: settings.explorer === "free",
    ...(files === undefined ? {} : { tls: readCertificate(files) }),
    droppedLogLines: log.droppedLines,
  });
  if (!existsSync(currentPath(lake)))
    logger.warn({ lake, run: firstIngest(lake) }, "no version published; waiting for the first one");
  if (files !== undefined) watchCertificate(files, service.replaceCertificate, logger);
  if (service.metricsUrl !== undefined) logger.info({ url: service.metricsUrl }, "serving metrics");
  for (const line of announce(settings.publicUrl ?? service.url)) process.stdout.write(`${line}\n`);
  process.stdout.write(`listening on ${service.url}\n`);
  await stopSignal.received();
  try {
    await service.stop();
    logger.info("stopped");
    await log.close().catch(() => process.exit());
  } catch (thrown) {
    logger.fatal({ error: messageOf(thrown) }, "not stopped; killing the process");
    await log.close().catch(() => undefined);
    // A thread that waits for the disk would hold up a regular exit.
    process.kill(process.pid, "SIGKILL");
  }
}

/** Serves the web application and the agent server beside the API. */
const mountPages: NonNullable<ServeOptions["mountSite"]> = (app, services) => {
  mountAgents(app, services, { page: agentChartPage(), draw: drawAnswer });
  mountSite(app, services);
};

/** Returns the limits of accounts, and those of exports. */
const limitsOf = (settings: ServiceValues): Pick<ServeOptions, "concurrentRequests" | "exports"> => ({
  concurrentRequests: settings.accountRequests,
  exports: {
    writtenMax: settings.writtenExports,
    memory: settings.exportMemory,
    deadlineMs: settings.exportDeadlineMs,
    bytesMax: settings.spoolBytes,
    sqlDeadlineMs: settings.sqlDeadlineMs,
    ...(settings.spool === undefined ? {} : { folder: settings.spool }),
  },
});

/** Receives SIGTERM and SIGINT. One ends the process as long as no work waits for it: a start can be ended at any moment. So does a second one. */
function receiveStopSignal(): { readonly received: () => Promise<void> } {
  let stop: (signal: "SIGTERM" | "SIGINT") => void = endNow;
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop(signal));
  return {
    received: () =>
      new Promise((resolve) => {
        stop = () => {
          exitOnSignals();
          resolve();
        };
      }),
  };
}

/**
 * `carquet run`: the one process of a node: serves, fetches on a schedule, and ingests days that are complete.
 *
 * Fetches and ingests are child processes, one at a time, with a lower priority: they cannot block or end the service. One that does not end is killed: a
 * kill at any moment loses nothing, because the next one continues from the queue and the lake.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Command } from "commander";
import { Cron } from "croner";
import { lowestPriority, yieldResources } from "../../../base/programs.ts";
import { programPath } from "../../../base/project-files.ts";
import { orAborted, withTimeLimit } from "../../../base/time-limit.ts";
import { messageOf } from "../../../base/user-error.ts";
import { recordFailedFetch } from "../../../ingest/fetch-status.ts";
import { countDaysToIngest, countQueue } from "../../../ingest/queue.ts";
import { writeIngestRecord } from "../../../lake/ingest-record.ts";
import { mappingsOfSources } from "../../../sources/save-mapping.ts";
import { fetchTimes, minuteMs } from "../../../sources/source-fetch.ts";
import { readSources } from "../../../sources/sources-file.ts";
import { memoryParser } from "../../option-parsers.ts";
import { reportFailure, type ScheduledCommand } from "../../scheduled.ts";
import { serviceSettings } from "../../service-settings.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";
import { serveUntilStopped } from "../serve.ts";
import { sourceSettings } from "./fetch.ts";

// biome-ignore format: a table is read by its columns
export const runSettings = {
  ...serviceSettings,
  ...sourceSettings,
  ...sharedSettings("stallMs", "months", "versionDays", "graceMs"),
  ingestMemory: { flags: "--ingest-memory <size>", env: "CARQUET_INGEST_MEMORY", default: "2GiB", parse: memoryParser,
    help: "query engine memory limit of ingests, beside that of the service" },
  metricsFolder: { flags: "--metrics-folder <dir>", env: "CARQUET_METRICS_FOLDER",
    help: "write metrics of fetches and ingests to carquet_fetch.prom and carquet_ingest.prom in this folder, for the textfile collector" },
} as const satisfies SettingRows;

type RunValues = ValuesOf<typeof runSettings>;

export const runCommand = (): Command =>
  addSettings(new Command("run"), runSettings)
    .description(
      "Serve the API, as carquet serve does; fetch from the sources on their schedule and at the deadline, as carquet fetch does; and ingest " +
        "the waiting days of the queue, as carquet ingest --queue does, which also removes expired days. SIGTERM and SIGINT stop it.",
    )
    .action(async (settings: RunValues) => {
      const { schedule, deadline, timeZone: timezone } = await readSources(settings.sources);
      const [hour, minute] = deadline.split(":");
      const jobs = new FeedJobs(settings);
      const crons: Cron[] = [];
      const stop = (): void => {
        for (const cron of crons) cron.stop();
        jobs.stop();
      };
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
      await serveUntilStopped({ ...settings, sourceMappings: mappingsOfSources(settings.sources) }, () => {
        for (const time of [schedule, `${minute} ${hour} * * *`])
          crons.push(new Cron(time, { timezone }, () => jobs.request()));
        jobs.request();
        return [];
      });
      await jobs.ended;
    });

/** A fetch ends its transfers before. */
const fetchMs = fetchTimes.fetchMs + minuteMs;
const ingestDayMs = 60 * minuteMs;
/** The longest time of a timer. */
const timerMsMax = 2 ** 31 - 1;
/** From SIGTERM on. */
const stopMs = 5000;

/** Runs fetches, each followed by an ingest if days wait. A request during one is answered by another run after it. */
class FeedJobs {
  ended: Promise<void> = Promise.resolve();
  private isRequested = false;
  private isRunning = false;
  private isStopped = false;
  private readonly killing = new AbortController();
  private child: ChildProcess | undefined;

  constructor(private readonly settings: RunValues) {}

  request(): void {
    this.isRequested = true;
    if (!this.isRunning) this.ended = this.runRequested();
  }

  /** Ends the running process, and begins no other. */
  stop(): void {
    this.isStopped = true;
    this.child?.kill("SIGTERM");
    const error = new Error(`did not end within ${stopMs / 1000} seconds of SIGTERM; killed`);
    setTimeout(() => this.killing.abort(error), stopMs).unref();
  }

  private async runRequested(): Promise<void> {
    const { sources, queue, stallMs, lake, ingestMemory, months, versionDays, graceMs } = this.settings;
    this.isRunning = true;
    while (this.isRequested && !this.isStopped) {
      this.isRequested = false;
      const words = ["--sources", sources, "--queue", queue, "--stall-timeout", String(stallMs / 1000)];
      await this.run("fetch", words, fetchMs);
      // An ingest reports why a queue cannot be read.
      const days = await countDaysToIngest(queue).catch(() => 1);
      const settings = [
        ...["--queue", queue, "--lake", lake, "--memory", ingestMemory],
        ...["--versions", String(versionDays), "--grace", String(graceMs / 60_000)],
        ...(months === undefined ? [] : ["--months", String(months)]),
      ];
      if (days > 0 && !this.isStopped) await this.run("ingest", settings, Math.min(days * ingestDayMs, timerMsMax));
    }
    this.isRunning = false;
  }

  /** Leaves a record of a command that was killed. */
  private async recordFailure(command: ScheduledCommand, error: string): Promise<void> {
    const { lake, queue } = this.settings;
    const now = new Date();
    if (command === "fetch") await recordFailedFetch(queue, error, now);
    else await writeIngestRecord(lake, { at: now.toISOString(), error, ...(await countQueue(queue)) });
  }

  /** Runs a command, which reports its failure itself, and kills it if it does not end in time. */
  private async run(command: ScheduledCommand, args: readonly string[], ms: number): Promise<void> {
    const { metricsFolder: folder } = this.settings;
    const metricsFile = folder === undefined ? undefined : join(folder, `carquet_${command}.prom`);
    const child = spawn(process.execPath, [programPath, command, ...args], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, CARQUET_METRICS_FILE: metricsFile },
    });
    this.child = child;
    const error = new Error(`did not end within ${ms / minuteMs} minutes; killed`);
    try {
      if (child.pid !== undefined) yieldResources(child.pid, lowestPriority);
      const [, signal] = await withTimeLimit({ ms, error, signal: this.killing.signal }, (limited) =>
        orAborted(limited, once(child, "exit")),
      );
      if (signal !== null && !this.isStopped) throw new Error(`ended by ${signal}`);
    } catch (thrown) {
      reportFailure(command, thrown);
      if (!this.isStopped) await this.recordFailure(command, messageOf(thrown)).catch(() => undefined);
    } finally {
      child.kill("SIGKILL");
      this.child = undefined;
    }
  }
}

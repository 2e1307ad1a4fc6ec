/**
 * Commands that a scheduler runs. Where standard error is not a terminal, they log JSON lines to it. With `--metrics-file`, each run leaves
 * metrics for the textfile collector of Prometheus's node exporter.
 */
import pino from "pino";
import { Gauge, Registry } from "prom-client";
import { replaceFile } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { buildLabels, buildMetric } from "../db/build-info.ts";
import { createProgress, type Progress } from "./print.ts";

export const figuresOfCommands = {
  fetch: {
    sources_failed: "Sources that failed in the last run.",
    files: "Files that it fetched.",
    bytes: "Their size.",
    quarantined: "Files that are in quarantine.",
    completed: "Days that became complete.",
  },
  ingest: {
    published: "Days that the last run published.",
    rows: "Rows of their deliveries.",
    rejected: "Rows among them that were rejected.",
  },
  push: {
    files: "Files that the last run copied.",
    bytes: "Their size.",
    versions_removed: "Versions that it removed.",
  },
  follow: {
    files: "Files that the last run fetched.",
    bytes: "Their size.",
    versions_removed: "Versions that it removed.",
  },
  vacuum: {
    snapshots_removed: "Days that the last run removed.",
    versions_removed: "Versions that it removed.",
    files_removed: "Files that it removed.",
  },
  verify: {
    faults: "Faults that the last run found.",
  },
} as const;

export type ScheduledCommand = keyof typeof figuresOfCommands;

type Figures<N extends ScheduledCommand> = Readonly<Record<keyof (typeof figuresOfCommands)[N], number>>;

const endings = {
  success: "1 if the last run succeeded, else 0.",
  end_timestamp_seconds: "When the last run ended, as Unix time.",
  duration_seconds: "How long it took.",
} as const;

/** Returns the metrics of a command for the documentation: name and help. */
export const metricsOfCommand = (command: ScheduledCommand): readonly (readonly [name: string, help: string])[] =>
  Object.entries({ ...endings, ...figuresOfCommands[command] }).map(([name, help]) => [
    `carquet_${command}_${name}`,
    help,
  ]);

export class ScheduledRun<N extends ScheduledCommand> {
  private figures: Record<string, number> = {};

  constructor(
    private readonly name: N,
    private readonly metricsFile: string | undefined,
  ) {}

  add(figures: Figures<N>): void {
    for (const [name, value] of Object.entries<number>(figures)) this.figures[name] = (this.figures[name] ?? 0) + value;
  }

  /** Runs `work`, writes its metrics, and logs its figures, if any. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    const begunMs = Date.now();
    this.figures = {};
    try {
      const result = await work();
      await this.end(true, begunMs);
      return result;
    } catch (thrown) {
      // The reason of the failure is reported also if the metrics cannot be written.
      await this.end(false, begunMs).catch(() => {});
      throw thrown;
    }
  }

  private async end(isSuccess: boolean, begunMs: number): Promise<void> {
    const endedMs = Date.now();
    const ms = Date.now() - begunMs;
    const message = isSuccess ? "run ended" : "run incomplete";
    if (Object.keys(this.figures).length > 0) logCommand(this.name, "info", { ...this.figures, ms }, message);
    const times = { end_timestamp_seconds: endedMs / 1000, duration_seconds: ms / 1000 };
    await this.writeMetrics({ success: Number(isSuccess), ...times, ...this.figures });
  }

  private async writeMetrics(values: Readonly<Record<string, number>>): Promise<void> {
    const { metricsFile: path } = this;
    if (path === undefined) return;
    const registry = new Registry();
    new Gauge({ ...buildMetric, registers: [registry] }).set(buildLabels(), 1);
    for (const [name, help] of metricsOfCommand(this.name))
      new Gauge({ name, help, registers: [registry] }).set(values[name.slice(`carquet_${this.name}_`.length)] ?? 0);
    // The collector reads files whose name ends with .prom, and no unfinished ones.
    const text = await registry.metrics();
    await replaceFile(path, text).catch((thrown: unknown) => {
      throw new UserError(`Cannot write the metrics: ${messageOf(thrown)}.`);
    });
  }
}

/** Logs a line of JSON, unless standard error is a terminal. */
export function logCommand(command: ScheduledCommand, level: "info" | "error", fields: object, message: string): void {
  if (process.stderr.isTTY) return;
  const logger = pino({ base: { command } }, process.stderr);
  logger[level](fields, message);
}

export const commandProgress = (command: ScheduledCommand): Progress =>
  createProgress((title, step, steps, description) => logCommand(command, "info", { title, step, steps }, description));

/** Reports why a run failed: as a line of JSON, or as other commands do on a terminal. */
export function reportFailure(command: ScheduledCommand, thrown: unknown): void {
  if (process.stderr.isTTY) process.stderr.write(`carquet: ${messageOf(thrown)}\n`);
  else logCommand(command, "error", { error: messageOf(thrown) }, "run failed");
}

/** Reports that a command works again after failures. */
export function reportRecovery(command: ScheduledCommand): void {
  if (process.stderr.isTTY) process.stderr.write(`carquet: ${command} works again\n`);
  else logCommand(command, "info", {}, "works again");
}

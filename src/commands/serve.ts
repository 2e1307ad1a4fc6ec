/** `carquet serve`: the API over a lake, until it is told to stop. */
import { Command } from "commander";
import pino from "pino";
import { serve } from "../http/server.ts";
import {
  type EngineSettings,
  engineOptions,
  hostOption,
  lakeOption,
  memoryOption,
  portOption,
  publicUrlOption,
  threadsOption,
} from "./settings.ts";

export interface ServeSettings extends EngineSettings {
  readonly lake: string;
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
}

/** Gives a command the options of whatever serves. */
export const serving = (command: Command): Command =>
  [lakeOption(), hostOption(), portOption(), publicUrlOption(), threadsOption(), memoryOption()].reduce(
    (given, option) => given.addOption(option),
    command,
  );

export const serveCommand = (): Command =>
  serving(new Command("serve"))
    .summary("the API")
    .description(
      "Serves the published version of a lake, and each one that is published after it, without a restart. Prints one line " +
        "`listening on URL` when it is ready; logs go to standard error, one JSON object a line. SIGTERM and SIGINT end it when the " +
        "requests in flight have been answered.",
    )
    .action(async (settings: ServeSettings) => {
      await serveUntilStopped(settings);
    });

/** Serves, says where, and stops on a signal; `announce` may print what comes before that line. */
export async function serveUntilStopped(
  settings: ServeSettings,
  announce: (url: string) => readonly string[] = () => [],
): Promise<void> {
  const logger = pino({ level: process.env.CARQUET_LOG_LEVEL ?? "info" }, pino.destination({ fd: 2, sync: false }));
  const { lake, host, port } = settings;
  const toldToStop = signalled();
  const service = await serve({ lake, host, port, logger, ...engineOptions(settings) });
  for (const line of announce(settings.publicUrl ?? service.url)) process.stdout.write(`${line}\n`);
  process.stdout.write(`listening on ${service.url}\n`);
  await toldToStop;
  await service.stop();
  logger.info("stopped");
  logger.flush();
}

/** Resolves when a signal to stop has come; a second one ends the process at once. */
function signalled(): Promise<void> {
  return new Promise((stop) => {
    let isStopping = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        stop();
      });
    }
  });
}

/** `carquet serve`: the API over a lake, until it is told to stop. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import pino from "pino";
import { messageOf, UserError } from "../../base/user-error.ts";
import { serve, type Tls } from "../../http/server.ts";
import {
  accountsOption,
  type EngineSettings,
  engineOptions,
  hostOption,
  lakeOption,
  memoryOption,
  portOption,
  publicUrlOption,
  responseCacheOption,
  threadsOption,
  tlsCertOption,
  tlsKeyOption,
  trustProxyOption,
} from "../options.ts";

export interface ServeSettings extends EngineSettings {
  readonly lake: string;
  readonly accounts: string;
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly trustProxy?: number;
  readonly answers: number;
}

/** Gives a command the options of whatever serves. */
export const addServeOptions = (command: Command): Command =>
  [
    lakeOption(),
    accountsOption(),
    hostOption(),
    portOption(),
    publicUrlOption(),
    tlsCertOption(),
    tlsKeyOption(),
    trustProxyOption(),
    threadsOption(),
    memoryOption(),
    responseCacheOption(),
  ].reduce((given, option) => given.addOption(option), command);

export const serveCommand = (): Command =>
  addServeOptions(new Command("serve"))
    .description(
      "Serves the published version of a lake, and each one that is published after it, without a restart. Prints one line " +
        "`listening on URL` when it is ready; logs go to standard error, one JSON object a line. SIGTERM and SIGINT end it when the " +
        "requests in flight have been answered. Every request but those for the description and the health of the service needs a key " +
        "of an account; what is answered is charged to it in the accounts file, which is made when there is none.",
    )
    .action(async (settings: ServeSettings) => {
      await serveUntilStopped(settings);
    });

/** Log lines are written together: one at a time, a line takes as long as a look-up. The last ones wait for so many milliseconds. */
const logging = { fd: 2, sync: false, minLength: 4096, periodicFlush: 100 } as const;

/** Serves, says where, and stops on a signal; `announce` may print what comes before that line. */
export async function serveUntilStopped(
  settings: ServeSettings,
  announce: (url: string) => readonly string[] = () => [],
): Promise<void> {
  const logger = pino({ level: process.env.CARQUET_LOG_LEVEL ?? "info" }, pino.destination(logging));
  const { lake, accounts, host, port, trustProxy, answers } = settings;
  const toldToStop = signalled();
  const service = await serve({
    ...{ lake, accounts, host, port, logger, responseCacheBytes: answers * 2 ** 20 },
    ...engineOptions(settings),
    ...(trustProxy === undefined ? {} : { trustedProxies: trustProxy }),
    ...tlsOf(settings),
  });
  for (const line of announce(settings.publicUrl ?? service.url)) process.stdout.write(`${line}\n`);
  process.stdout.write(`listening on ${service.url}\n`);
  await toldToStop;
  await service.stop();
  logger.info("stopped");
  logger.flush();
}

/** The certificate and its key, read; both or neither. */
function tlsOf({ tlsCert, tlsKey }: ServeSettings): { readonly tls?: Tls } {
  if (tlsCert === undefined && tlsKey === undefined) return {};
  if (tlsCert === undefined || tlsKey === undefined) throw new UserError("--tls-cert and --tls-key go together.");
  return { tls: { cert: textOf(tlsCert), key: textOf(tlsKey) } };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    throw new UserError(`${path}: cannot be read: ${messageOf(thrown)}.`);
  }
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

/** Settings: flags, else environment, else defaults. The defaults stand here and nowhere else. */
import { InvalidArgumentError, Option } from "commander";
import { microsIn } from "../accounts/money.ts";
import { bounds } from "../base/bounds.ts";
import { isDay } from "../base/day.ts";

export const lakeOption = (): Option =>
  new Option("--lake <dir>", "the lake's folder").env("CARQUET_LAKE").default("data/lake");

export const accountsOption = (): Option =>
  new Option("--accounts <file>", "the accounts file").env("CARQUET_ACCOUNTS").default("data/accounts.db");

export const jsonOption = (): Option => new Option("--json", "print JSON").default(false);

export const hostOption = (): Option =>
  new Option("--host <host>", "the address to listen on").env("CARQUET_HOST").default("127.0.0.1");

export const portOption = (): Option =>
  new Option("--port <port>", "the port to listen on; 0 picks a free one")
    .env("CARQUET_PORT")
    .default(8080)
    .argParser((text) => whole(text, 65_535));

export const publicUrlOption = (): Option =>
  new Option("--public-url <url>", "how clients reach the service, where that is not where it listens").env(
    "CARQUET_PUBLIC_URL",
  );

export const tlsCertOption = (): Option =>
  new Option("--tls-cert <file>", "serve HTTPS with this certificate (PEM, with its chain)");

export const tlsKeyOption = (): Option => new Option("--tls-key <file>", "the certificate's private key (PEM)");

export const trustProxyOption = (): Option =>
  new Option("--trust-proxy [n]", "believe X-Forwarded-For and X-Forwarded-Proto of so many proxies before the service")
    .preset("1")
    .argParser((text) => whole(text, 10, 1));

export const threadsOption = (): Option =>
  new Option("--threads <n>", "threads of the engine; all processors unless given").argParser((text) =>
    whole(text, 1024, 1),
  );

export const memoryOption = (): Option =>
  new Option(
    "--memory <size>",
    "memory limit of the engine, for example 4GiB; 80 % of the machine unless given",
  ).argParser((text) => {
    if (/^\d+(\.\d+)?\s*([KMGT]i?B|%)$/i.test(text)) return text;
    throw new InvalidArgumentError("allowed is a size such as 512MiB or 4GiB.");
  });

export const responseCacheOption = (): Option =>
  new Option("--answers <MiB>", "memory for answers that are kept until it is full; 0 keeps none")
    .default(bounds.answerBytes / 2 ** 20)
    .argParser((text) => whole(text, 1_048_576));

export const dayOption = (): Option => new Option("--day <YYYY-MM-DD>", "the day of the delivery").argParser(dayParser);

export const replayOption = (): Option =>
  new Option(
    "--replay-from <YYYY-MM-DD>",
    "start again from the version before this day; needs all folders from there on",
  ).argParser(dayParser);

/** Reads a day. */
export function dayParser(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError("allowed is a day YYYY-MM-DD.");
}

/** Reads an amount in USD as micros; a negative one where that means something. */
export const usdParser =
  (least: "negative" | "zero" | "positive") =>
  (text: string): number => {
    const micros = microsIn(text);
    if (micros !== undefined && (least === "negative" ? micros !== 0 : micros >= (least === "zero" ? 0 : 1)))
      return micros;
    throw new InvalidArgumentError("allowed is an amount in USD such as 25 or 0.50, up to 999999.");
  };

/** Reads a number of requests, days or other things that are counted. */
export const countParser = (text: string): number => whole(text, 1_000_000);

/** Reads a whole number between two bounds. */
export const wholeParser =
  (most: number, least = 0) =>
  (text: string): number =>
    whole(text, most, least);

function whole(text: string, most: number, least = 0): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && least <= number && number <= most) return number;
  throw new InvalidArgumentError(`allowed is a whole number ${least > 1 ? `from ${least} ` : ""}up to ${most}.`);
}

/** How the engine is set, as far as somebody said so. */
export interface EngineSettings {
  readonly threads?: number;
  readonly memory?: string;
}

/** The engine's settings in the lake's terms. */
export function engineOptions({ threads, memory }: EngineSettings): { threads?: number; memoryLimit?: string } {
  return {
    ...(threads === undefined ? {} : { threads }),
    ...(memory === undefined ? {} : { memoryLimit: memory }),
  };
}

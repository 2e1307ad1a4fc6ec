/** `carquet check`: checks what a service needs before it starts, and prints a line for each check. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { openAccountsToRead } from "../../accounts/storage/open-accounts.ts";
import { orAborted, withTimeLimit } from "../../base/time-limit.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { slotPool } from "../../db/fair-pool.ts";
import { Job } from "../../db/job.ts";
import { isPostgresUrl, withoutPassword } from "../../db/postgres.ts";
import { useAndClose } from "../../db/sql-database.ts";
import { fileFault } from "../../lake/listed-file.ts";
import { currentManifest, tableFilesOf } from "../../lake/manifest.ts";
import { requireUnpublished } from "../../lake/writer/writer.ts";
import { connectTo } from "../../sources/connect.ts";
import { publicMessageOf } from "../../sources/source-fetch.ts";
import { type FeedSource, readSources } from "../../sources/sources-file.ts";
import { type Check, spaceChecks, startChecks } from "../checks.ts";
import { printResult } from "../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";
import { runSettings } from "./feeds/run.ts";

const { sources, queue, ...otherSettings } = runSettings;

// biome-ignore format: a table is read by its columns
const checkSettings = {
  ...otherSettings,
  sources: { flags: sources.flags, env: sources.env, help: "file of sources, each of which is asked for its files" },
  queue: { flags: queue.flags, help: "queue of deliveries, of a service that ingests" },
  offline: { flags: "--offline", help: "connect to no source and to no database, and fail only for what keeps a service from starting" },
  ...sharedSettings("json"),
} as const satisfies SettingRows;

type CheckValues = ValuesOf<typeof checkSettings>;

export const checkCommand = (): Command =>
  addSettings(new Command("check"), checkSettings)
    .description(
      "Check what carquet serve and carquet run need, with the same settings and variables, before they start: settings, lake, accounts, the TLS " +
        "pair, permissions, free space, and each source of --sources with a connection. Prints a line for each, and fails if one fails. Changes nothing.",
    )
    .action(async (settings: CheckValues) => {
      const checks = [...startChecks(settings), ...(await stateChecks(settings)), ...spaceChecks(settings)];
      let failed = 0;
      for (const check of checks)
        if (!(await isPassed(check, settings.json)) && !(settings.offline && startsWithout(check))) failed += 1;
      if (failed > 0) throw new UserError(`${failed} of ${checks.length} checks failed.`);
    });

/** Whether a service starts even if a check fails: one that `check --offline` only reports. */
const startsWithout = ([name]: Check): boolean => name === "lake" || name.startsWith("space for ");

/** Runs a check and prints its outcome. */
async function isPassed([check, find]: Check, isJson: boolean): Promise<boolean> {
  const [ok, text] = await (async () => find())().then(
    (found) => [true, found] as const,
    (thrown: unknown) => [false, messageOf(thrown)] as const,
  );
  printResult({ check, ok, [ok ? "found" : "error"]: text }, `${ok ? "ok    " : "failed"}  ${check}: ${text}`, isJson);
  return ok;
}

/** The checks of what a service can start without: the published version, the accounts, and the sources. */
async function stateChecks(values: CheckValues): Promise<readonly Check[]> {
  const { lake, auth, accounts, sources: path, stallMs, offline } = values;
  const hasAccounts = auth !== "off" && !(offline && isPostgresUrl(accounts));
  const checks: Check[] = [["lake", () => checkVersion(lake)]];
  if (hasAccounts) checks.push(["accounts", () => checkAccounts(accounts)]);
  if (path === undefined) return checks;
  const file = await readSources(path).catch((thrown: unknown) => messageOf(thrown));
  if (typeof file === "string") return [...checks, ["sources", () => Promise.reject(new UserError(file))]];
  const found: Check = ["sources", () => `${path}: ${file.sources.length} sources`];
  return [...checks, found, ...(offline ? [] : file.sources.map((source) => sourceCheck(source, stallMs)))];
}

async function checkVersion(lake: string): Promise<string> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) return requireUnpublished(lake).then(() => `${lake}: no version published`);
  for (const file of [...tableFilesOf(manifest), ...manifest.serving]) {
    const fault = await fileFault(lake, file, "size");
    if (fault !== undefined) throw new UserError(`${lake}: version ${manifest.version}: ${fault}`);
  }
  return `${lake}: version ${manifest.version}`;
}

/** How long a command waits for the lock of accounts, and for a reply of their server. */
const busyMs = 2000;

async function checkAccounts(accounts: string): Promise<string> {
  if (!isPostgresUrl(accounts) && !existsSync(accounts)) return `${accounts}: will be created`;
  await useAndClose(openAccountsToRead(accounts, { busyMs, replyMs: busyMs }), () => undefined);
  return withoutPassword(accounts);
}

/** How long a source may take to list its files. */
const sourceMs = 30_000;

/** Sources that are asked at once. */
const askers = slotPool(8, Number.POSITIVE_INFINITY);

function sourceCheck(source: FeedSource, stallMs: number): Check {
  const error = new UserError(`no answer within ${sourceMs / 1000} seconds`);
  const ask = (signal: AbortSignal): Promise<string> => orAborted(signal, listed(source, stallMs, signal));
  const found = askers.use(new Job(source.name), () => withTimeLimit({ ms: sourceMs, error }, ask));
  const reported = found.catch((thrown: unknown) => Promise.reject(new UserError(publicMessageOf(source, thrown))));
  reported.catch(() => undefined);
  return [`source ${source.name}`, () => reported];
}

/** Connects to a source and counts its files; a web server, which lists none, is asked for its file. */
async function listed(source: FeedSource, stallMs: number, signal: AbortSignal): Promise<string> {
  const connector = await connectTo(source, stallMs, signal);
  const files = await connector.list(source.pattern);
  const path = source.https === undefined ? "" : (files[0]?.path ?? "");
  if (path !== "" && (await connector.read(path, {}, signal)) === undefined)
    throw new UserError(`${connector.locationOf(path)}: not found`);
  return `${files.length} files at ${connector.locationOf(path)}`;
}

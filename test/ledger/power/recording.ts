/** Records the writes of a service to its accounts file and to its clients, in order, with a preloaded library. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { Agent, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { projectPath } from "../../../src/base/project-files.ts";
import type { ChargeFlush } from "../../../src/http/service/service-state.ts";
import { type Customer, createCustomer, temporaryAccountsFile } from "../../support/accounts.ts";
import { temporaryFolder } from "../../support/lakes/lakes.ts";
import type { Scope } from "../../support/scope.ts";

export type Event =
  | { readonly kind: "written"; readonly file: FileName; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "cut"; readonly file: FileName; readonly length: number }
  | { readonly kind: "syncBegins" | "syncEnds"; readonly file: FileName | "folder" }
  | { readonly kind: "answered"; readonly chargeId: string; readonly atMs: number };

export type FileName = "database" | "wal";

export interface Recording {
  /** The accounts file and its write-ahead log at the start of the recording. */
  readonly before: Readonly<Record<FileName, Buffer>>;
  readonly events: readonly Event[];
}

const kinds = [undefined, "written", "cut", "syncBegins", "syncEnds", "answered"] as const;
const files = ["database", "wal", "folder"] as const;
const headerBytes = 16;

/** Compiles the recorder into a folder; returns its path. */
export async function compileRecorder(folder: string): Promise<string> {
  const recorder = join(folder, "recorder.so");
  const source = projectPath("test/ledger/power/recorder.c");
  await promisify(execFile)("cc", ["-shared", "-fPIC", "-O1", "-Wall", "-o", recorder, source, "-ldl"]);
  return recorder;
}

interface RecordingOptions {
  readonly lake: string;
  readonly chargeFlush: ChargeFlush;
  readonly answers: number;
  readonly clients: number;
}

/** Serves paid answers to concurrent clients and records the service. */
export async function record(
  scope: Scope,
  { lake, chargeFlush, answers, clients }: RecordingOptions,
): Promise<Recording> {
  const folder = await temporaryFolder(scope);
  const accounts = await temporaryAccountsFile(scope);
  const customers = await Promise.all(Array.from({ length: 3 }, () => createCustomer(accounts)));
  const log = join(folder, "log");
  const command = ["--import", "tsx/esm", projectPath("test/ledger/power/service.ts"), lake, accounts, chargeFlush];
  const child = spawn(process.execPath, command, {
    cwd: projectPath("."),
    env: { ...process.env, LD_PRELOAD: await compileRecorder(folder), POWER_LOG: log, POWER_FILE: accounts },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const url = String(line).replace("listening on ", "");
    const before = { database: join(folder, "before"), wal: join(folder, "before-wal") };
    await copyFile(accounts, before.database);
    await copyFile(`${accounts}-wal`, before.wal);
    const startBytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    await sendRequests(url, customers, answers, clients);
    return {
      before: { database: readFileSync(before.database), wal: readFileSync(before.wal) },
      events: parseEvents(readFileSync(log).subarray(startBytes)),
    };
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}

/** Sends searches from concurrent clients; fails if one is not answered with 200. */
async function sendRequests(
  url: string,
  customers: readonly Customer[],
  answers: number,
  clients: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const loops = Array.from({ length: clients }, async (_, client) => {
    const headers = customers[client % customers.length]?.bearer;
    for (let sent = client; sent < answers; sent += clients) {
      const response = await new Promise<IncomingMessage>((answered, failed) =>
        get(`${url}/v1/listings?limit=1&fields=id`, { agent, headers }, answered).on("error", failed),
      );
      await text(response);
      if (response.statusCode !== 200) throw new Error(`Status ${response.statusCode}: expected 200.`);
    }
  });
  await Promise.all(loops);
  agent.destroy();
}

function parseEvents(log: Buffer): readonly Event[] {
  const events: Event[] = [];
  for (let offsetInLog = 0; offsetInLog + headerBytes <= log.length; ) {
    const kind = kinds[log[offsetInLog] ?? 0];
    const file = files[log[offsetInLog + 1] ?? 0];
    const length = log.readUInt32LE(offsetInLog + 4);
    const offset = Number(log.readBigUInt64LE(offsetInLog + 8));
    const bytes = log.subarray(offsetInLog + headerBytes, offsetInLog + headerBytes + length);
    offsetInLog += headerBytes + length;
    if (kind === "answered") {
      const chargeId = /\r\nX-Request-Id: (\S+)\r\n/.exec(bytes.toString("latin1"))?.[1];
      if (chargeId !== undefined && bytes.includes("X-Usage-Class")) events.push({ kind, chargeId, atMs: offset });
    } else if (file !== undefined && (kind === "syncBegins" || kind === "syncEnds")) events.push({ kind, file });
    else if (file === undefined || file === "folder" || kind === undefined)
      throw new Error(`Invalid record: kind ${kind}, file ${file}.`);
    else events.push(kind === "cut" ? { kind, file, length: offset } : { kind: "written", file, offset, bytes });
  }
  return events;
}

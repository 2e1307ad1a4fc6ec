/** Fetches from hostile sources beside a good one, again and again: each fetch ends in time, and the good source's day is complete. */
import { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { carquet } from "../../command-line.ts";
import { temporaryFolder } from "../../lakes/lakes.ts";
import type { Scope } from "../../scope.ts";
import { sleepUnless } from "../mixed/faults.ts";
import type { Journal } from "../mixed/journal.ts";
import { listenLocally, sendForever } from "./receivers.ts";

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n";

/** What the server of each hostile source does with a connection. */
const servers: Readonly<Record<string, readonly [kind: "https" | "ftp", answer: (socket: Socket) => void]>> = {
  dripping: [
    "https",
    (socket) => {
      socket.write(`${head}Content-Length: 1000000000\r\n\r\n`);
      sendForever(socket, "x".repeat(1500), 1000);
    },
  ],
  extensions: [
    "https",
    (socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n5;`);
      sendForever(socket, "x".repeat(1000), 100);
    },
  ],
  silent: ["https", () => undefined],
  endless: ["ftp", (socket) => sendForever(socket, "x".repeat(1000), 100)],
  mute: ["ftp", () => undefined],
};

const stallSeconds = 3;
/** The attempts at all sources take a tenth of it on an idle machine. */
const fetchMsMax = 300_000;
const pauseMs = 5_000;
const goodSource = "good";

export interface FetchSummary {
  readonly fetches: number;
  readonly slowestSeconds: number;
}

/** Repeats fetches until `isOver`; reports problems to the journal. */
export async function fetchFromHostileSources(
  scope: Scope,
  journal: Journal,
  isOver: () => boolean,
): Promise<FetchSummary> {
  const folder = await temporaryFolder(scope);
  const sources = join(folder, "sources.yaml");
  const inbox = join(folder, "inbox");
  await mkdir(inbox);
  await writeFile(join(inbox, "stock.csv"), "vin\nV1\n");
  await utimes(join(inbox, "stock.csv"), 1, 1);
  await writeFile(sources, JSON.stringify(await describeSources(scope, inbox)));
  const summary = { fetches: 0, slowestSeconds: 0 };
  while (!isOver()) {
    const queue = join(folder, "queue");
    const startedAtMs = performance.now();
    const args = ["fetch", "--sources", sources, "--queue", queue, "--stall-timeout", String(stallSeconds)];
    const { code, out, err } = await carquet(args, { env: { OVERLOAD_SECRET: "secret" }, withinMs: fetchMsMax });
    summary.fetches += 1;
    summary.slowestSeconds = Math.max(summary.slowestSeconds, (performance.now() - startedAtMs) / 1000);
    for (const fault of faultsOf(code, out)) journal.addProblem("fetch", `${fault}: ${out} ${err}`.slice(0, 2000));
    await rm(queue, { recursive: true, force: true });
    await sleepUnless(isOver, pauseMs);
  }
  return summary;
}

async function describeSources(scope: Scope, inbox: string): Promise<object> {
  const sources: Record<string, object> = { [goodSource]: { folder: { path: inbox }, files: "*.csv" } };
  for (const [name, [kind, answer]] of Object.entries(servers)) {
    const url = await listenLocally(scope, createServer(answer));
    const ftp = {
      host: "127.0.0.1",
      port: Number(new URL(url).port),
      tls: "none",
      username: "a",
      passwordVariable: "OVERLOAD_SECRET",
    };
    sources[name] = kind === "ftp" ? { ftp, files: "*.csv" } : { https: { url: `${url}/${name}.csv` } };
  }
  // A deadline that has passed: the day does not wait for the hostile sources.
  return { timeZone: "UTC", deadline: "00:00", sources };
}

/** Returns what is wrong with the end of a fetch. */
function faultsOf(code: number | null, out: string): readonly string[] {
  if (code !== 1) return [code === null ? `no end within ${fetchMsMax} ms` : `exit code ${code}, expected 1`];
  const lines = out.split("\n");
  const unnamed = Object.keys(servers).filter(
    (name) => !lines.some((line) => new RegExp(`^${name}: (failed|quarantine)`).test(line)),
  );
  return [
    ...unnamed.map((name) => `source ${name} is not reported`),
    ...(lines.some((line) => line.startsWith(`${goodSource}: 1 files fetched`)) ? [] : ["nothing of the good source"]),
    ...(/^\d{4}-\d{2}-\d{2}: complete/m.test(out) ? [] : ["no day is complete"]),
  ];
}

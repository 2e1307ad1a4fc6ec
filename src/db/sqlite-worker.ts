/** Worker of a `SqliteThread`. Answers requests in their order. */
import { parentPort, workerData } from "node:worker_threads";
import { integerIn, type Row } from "../base/json.ts";
import { messageOf } from "../base/user-error.ts";
import { Sql, sql, type Value } from "./sql.ts";
import { SqliteDatabase } from "./sqlite.ts";

/** A query of a connection that only reads, a checkpoint, or the end of the thread: one that is terminated within a statement ends the process. */
export type ThreadRequest =
  | { readonly texts: readonly string[]; readonly values: readonly Value[] }
  | "checkpoint"
  | "close";

/** The rows of a query, or the error of a request with its codes. */
export interface ThreadReply {
  readonly rows: readonly Row[];
  readonly fault?: { readonly message: string; readonly code?: unknown; readonly errcode?: unknown };
}

/** Pages of a log that is started again: 64 MiB. */
const logPagesMax = 16_384;
const shortPassMs = 10;
const passesMax = 20;
const busyMs = 100;

const { path }: { readonly path: string } = workerData;
let reader: SqliteDatabase | undefined;
let writer: SqliteDatabase | undefined;

function answer(request: Exclude<ThreadRequest, "close">): readonly Row[] {
  if (request === "checkpoint") return checkpoint();
  reader ??= SqliteDatabase.openToRead(path);
  return reader.all(new Sql(request.texts, request.values));
}

/**
 * Moves the log into the file, passively: that delays no writer. What is written meanwhile is left to the next pass, which is shorter. If the log has
 * become long, because there was always a writer, they wait for the end of a last pass, which starts it again.
 */
function checkpoint(): readonly Row[] {
  writer ??= SqliteDatabase.open(path, { busyMs });
  for (let pass = 1; ; pass += 1) {
    const startedAtMs = performance.now();
    const [row] = writer.all(sql`PRAGMA wal_checkpoint(PASSIVE)`);
    if (integerIn(row, "log") <= logPagesMax) return [];
    if (performance.now() - startedAtMs < shortPassMs || pass === passesMax) break;
  }
  writer.all(sql`PRAGMA wal_checkpoint(TRUNCATE)`);
  return [];
}

function codesOf(thrown: unknown): Pick<NonNullable<ThreadReply["fault"]>, "code" | "errcode"> {
  if (!(thrown instanceof Error)) return {};
  const cause = thrown.cause instanceof Error ? thrown.cause : thrown;
  return {
    ...("code" in cause ? { code: cause.code } : {}),
    ...("errcode" in cause ? { errcode: cause.errcode } : {}),
  };
}

parentPort?.on("message", (request: ThreadRequest) => {
  if (request === "close") {
    reader?.close();
    writer?.close();
    parentPort?.close();
    return;
  }
  let reply: ThreadReply;
  try {
    reply = { rows: answer(request) };
  } catch (thrown) {
    reply = { rows: [], fault: { message: messageOf(thrown), ...codesOf(thrown) } };
  }
  parentPort?.postMessage(reply);
});

/** Worker of a `SqliteThread`. Answers requests in their order. */
import { parentPort, workerData } from "node:worker_threads";
import { integerIn, type Row } from "../base/json.ts";
import { messageOf } from "../base/user-error.ts";
import { Sql, sql, type Value } from "./sql.ts";
import { SqliteDatabase } from "./sqlite.ts";

/** A query of a connection that only reads, or a checkpoint. */
export type ThreadRequest = { readonly texts: readonly string[]; readonly values: readonly Value[] } | "checkpoint";

/** The rows of a query, or the error of a request with its codes. */
export interface ThreadReply {
  readonly rows: readonly Row[];
  readonly fault?: { readonly message: string; readonly code?: unknown; readonly errcode?: unknown };
}

/** Pages of a log that is started again: 64 MiB. */
const logPagesMax = 16_384;
const busyMs = 100;

const { path }: { readonly path: string } = workerData;
let reader: SqliteDatabase | undefined;
let writer: SqliteDatabase | undefined;

function answer(request: ThreadRequest): readonly Row[] {
  if (request === "checkpoint") return checkpoint();
  reader ??= SqliteDatabase.openToRead(path);
  return reader.all(new Sql(request.texts, request.values));
}

/** A passive checkpoint delays no writer. If none has been able to start the log again, because there was always one, they wait for the end of the next. */
function checkpoint(): readonly Row[] {
  writer ??= SqliteDatabase.open(path, { busyMs });
  const [row] = writer.all(sql`PRAGMA wal_checkpoint(PASSIVE)`);
  if (integerIn(row, "log") > logPagesMax) writer.all(sql`PRAGMA wal_checkpoint(TRUNCATE)`);
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
  let reply: ThreadReply;
  try {
    reply = { rows: answer(request) };
  } catch (thrown) {
    reply = { rows: [], fault: { message: messageOf(thrown), ...codesOf(thrown) } };
  }
  parentPort?.postMessage(reply);
});

/**
 * Connection thread: runs the statements of one `PostgresDatabase`, whose thread waits for each reply. Reconnects after a lost connection and
 * terminates its backend on the server, so that its transaction is committed or rolled back.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { integerIn, type Row, textIn } from "../base/json.ts";
import { messageOf } from "../base/user-error.ts";
import type { Value } from "./sql.ts";

/** The `workerData` of the thread. */
export interface ConnectionSettings {
  readonly url: string;
  /** How long a statement waits for the lock of another connection. */
  readonly busyMs: number;
  /** How long the server keeps a transaction that waits for its next statement; 0 for no limit. */
  readonly idleMs: number;
  /** How long to wait for a reply of the server before the connection counts as lost; 0 for no limit. */
  readonly replyMs: number;
  /** Counts the replies; -1 when the thread has exited. */
  readonly replies: Int32Array;
}

/** Statements, or null to end the thread: the end of a port arrives only when the event loop of the other thread turns. */
export type ConnectionRequest = StatementsRequest | null;

export interface StatementsRequest {
  /** Sent together. The server runs one after the other, and within a transaction none after one that fails. */
  readonly statements: readonly Statement[];
  /** Connect first if there is no connection. False within a transaction, which ends with its connection. */
  readonly mayConnect: boolean;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
  /** Prepare the statement, for the next time. */
  readonly isPrepared: boolean;
}

export interface StatementError {
  readonly message: string;
  /** The SQLSTATE, or the code of a system error. */
  readonly code: string;
  /** The server's reply is unknown: the statement may have been executed. */
  readonly isConnectionLost: boolean;
}

export interface StatementReply {
  readonly rows: readonly Row[];
  readonly count: number;
  readonly command: string;
}

/** The results of all statements, or the first error. */
export type StatementsReply = { readonly results: readonly StatementReply[] } | { readonly error: StatementError };

const { url, busyMs, idleMs, replyMs, replies }: ConnectionSettings = workerData;
const connectMs = 2_000;

/**
 * TCP keep-alive: when the server drops a vanished client, whose session it would keep for hours, and the delay of the first probe on this side.
 * Without effect on Unix sockets.
 */
const keepAliveSeconds = 10;
const tcpSettings = Object.entries({
  tcp_keepalives_idle: keepAliveSeconds,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 20_000,
});

/** The process of a connection on the server. Its number is reused, its start is not. */
interface Backend {
  readonly pid: number;
  readonly start: string;
}

interface OpenConnection {
  readonly client: pg.Client;
  readonly backend: Backend;
}

let connection: OpenConnection | undefined;
let lostBackend: Backend | undefined;
const statementNames = new Map<string, string>();

const types = new pg.TypeOverrides();
// 64-bit integers, and sums of them. A number that is not exact fails where it is read.
for (const oid of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]) types.setTypeParser(oid, Number);

async function connect(): Promise<OpenConnection> {
  const client = new pg.Client({
    connectionString: url,
    types,
    pipeline: true,
    connectionTimeoutMillis: connectMs,
    query_timeout: replyMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveSeconds * 1000,
    application_name: "carquet",
    lock_timeout: busyMs,
    idle_in_transaction_session_timeout: idleMs,
  });
  // Without a listener, a connection that breaks between two statements would end the process.
  client.on("error", dropConnection);
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT pid, backend_start::text AS start FROM pg_stat_activity WHERE pid = pg_backend_pid()",
    );
    await client.query(
      `SELECT ${tcpSettings.map(([name, value]) => `set_config('${name}', '${value}', false)`).join()}`,
    );
    // An acknowledged commit is on disk, regardless of the server's default.
    await client.query(
      "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    );
    if (lostBackend !== undefined)
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2",
        [lostBackend.pid, lostBackend.start],
      );
    lostBackend = undefined;
    return { client, backend: { pid: integerIn(rows[0], "pid"), start: textIn(rows[0], "start") } };
  } catch (thrown) {
    client.end().catch(() => undefined);
    throw thrown;
  }
}

/** Closes the connection, which is replaced by the next statement. */
function dropConnection(): void {
  if (connection === undefined) return;
  const { client, backend } = connection;
  connection = undefined;
  lostBackend = backend;
  client.end().catch(() => undefined);
}

function nameOf(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const name = `s${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}

/** SQLSTATEs with which the server ends a connection. The severity is translated, so it cannot be asked. */
const endOfConnection = /^(57P|08|25P03)/;

/** Returns true for an error of a statement that leaves the connection usable. */
const isStatementError = (thrown: unknown): boolean =>
  thrown instanceof pg.DatabaseError && !endOfConnection.test(thrown.code ?? "");

/** Returns the message of an error. That of several addresses without a server is empty. */
const textOf = (thrown: unknown): string => messageOf(thrown instanceof AggregateError ? thrown.errors[0] : thrown);

async function execute({ statements, mayConnect }: StatementsRequest): Promise<StatementsReply> {
  let isSent = false;
  try {
    if (connection === undefined && !mayConnect) throw new Error("The connection to PostgreSQL was lost.");
    connection ??= await connect();
    isSent = true;
    const { client } = connection;
    const outcomes = await Promise.allSettled(statements.map((statement) => run(client, statement)));
    const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    if (!failures.every(isStatementError)) dropConnection();
    if (failures.length > 0) throw failures[0];
    return { results: outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : [])) };
  } catch (thrown) {
    if (!isStatementError(thrown)) dropConnection();
    const isConnectionLost = !isStatementError(thrown) && (isSent || !mayConnect);
    return { error: { message: textOf(thrown), code: codeOf(thrown), isConnectionLost } };
  }
}

/** Runs a text of one or more statements; returns the result of the last. */
async function run(client: pg.Client, { text, values, isPrepared }: Statement): Promise<StatementReply> {
  const reply = await client.query({ text, values: [...values], ...(isPrepared ? { name: nameOf(text) } : {}) });
  // The declared type does not know that a text of several statements has a result for each.
  const last = [reply].flat().at(-1);
  return { rows: last?.rows ?? [], count: last?.rowCount ?? 0, command: last?.command ?? "" };
}

const codeOf = (thrown: unknown): string => (thrown instanceof Error && "code" in thrown ? String(thrown.code) : "");

function onRequest(port: MessagePort, request: string): void {
  const statements: ConnectionRequest = JSON.parse(request);
  if (statements === null) {
    port.close();
    return;
  }
  void execute(statements).then((reply) => {
    port.postMessage(JSON.stringify(reply));
    Atomics.add(replies, 0, 1);
    Atomics.notify(replies, 0);
  });
}

process.on("exit", () => {
  Atomics.store(replies, 0, -1);
  Atomics.notify(replies, 0);
});

parentPort?.once("message", (port: MessagePort) => {
  port.on("message", (request: string) => onRequest(port, request));
  port.on("close", () => {
    void connection?.client.end().catch(() => undefined);
    parentPort?.close();
  });
});

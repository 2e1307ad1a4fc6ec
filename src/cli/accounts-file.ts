/** Opens the accounts file for a command, also while the service runs, and prints the results of commands about it. */
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import type { Author } from "../accounts/administration/audit-log.ts";
import { type AuditResult, auditReplyMs, openAndAudit } from "../accounts/ledger/audit.ts";
import { createAccounts, openAccounts, openAccountsToRead } from "../accounts/storage/open-accounts.ts";
import type { Json } from "../base/json.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { classifyFault, type EngineFault } from "../db/engine-faults.ts";
import { isPostgresUrl, withoutPassword } from "../db/postgres.ts";
import { type SqlDatabase, useAndClose } from "../db/sql-database.ts";
import { formatRows } from "./print.ts";
import type { SharedValues } from "./settings.ts";

/** The values that all commands about the accounts file have, and those of commands about one account. */
export type AccountsFileValues = SharedValues<"accounts" | "json">;
export type AccountValues = SharedValues<"accounts" | "json" | "account">;

/** How long a command waits for the lock of a service that writes. */
const busyMs = 10_000;

/** Runs `work` on an existing accounts file. Throws a UserError if it does not exist. */
export async function withAccountsFile<T>(path: string, work: (database: SqlDatabase) => Promise<T>): Promise<T> {
  requireExisting(path);
  return orUnusable(path, useAndClose(openAccounts(path, { busyMs }), work));
}

/** Audits an existing accounts file. Throws a UserError if it does not exist. */
export async function auditExisting(path: string): Promise<AuditResult> {
  requireExisting(path);
  const audited = openAndAudit(() => openAccountsToRead(path, { busyMs, replyMs: auditReplyMs }));
  return orUnusable(path, audited);
}

function requireExisting(path: string): void {
  if (!isPostgresUrl(path) && !existsSync(path))
    throw new UserError(`Accounts file ${path} does not exist: expected one created by "carquet accounts create".`);
}

export function withNewAccountsFile<T>(path: string, work: (database: SqlDatabase) => Promise<T>): Promise<T> {
  return orUnusable(path, useAndClose(createAccounts(path, { busyMs }), work));
}

/** Faults of a file, its disk, another process or the server, rather than of this program. */
const outerFaults: readonly EngineFault[] = ["disk full", "busy", "damaged", "io error", "unreachable"];

/** Returns the result of work on accounts; throws such a fault as a UserError with their location. */
export const orUnusable = <T>(location: string, work: Promise<T>): Promise<T> =>
  work.catch((thrown: unknown) => {
    if (thrown instanceof UserError || !outerFaults.includes(classifyFault(thrown))) throw thrown;
    const reason = `The accounts cannot be used: ${messageOf(thrown)}.`;
    throw new UserError(`${withoutPassword(location)}: ${reason}`, { cause: thrown });
  });

/** Returns the author of changes by this command, for the audit log: the user of the operating system. */
export const commandAuthor = (): Author => ({ actor: `command line (${userName()})`, atMs: Date.now() });

/** Returns the name of the user, or the id of one without a name, as in a container. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}

export function printRows(rows: readonly Readonly<Record<string, Json>>[], isJson: boolean): void {
  if (isJson) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0) process.stdout.write("(0 rows)\n");
  else process.stdout.write(formatRows({ columns: Object.keys(rows[0] ?? {}), rows }, "table"));
}

/** Formats a Unix time as ISO 8601 in UTC, to the second. */
export const formatTime = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");

/** The `audit_log` table: who changed what, by the command line and in the web application. Append-only. */
import { integerIn, textIn, textOrNullIn } from "../../base/json.ts";
import { insertInto, rowReader } from "../../db/row-reader.ts";
import { sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";

/** The author and time of a change. */
export interface Author {
  /** An account id, `command line (<user>)` or `service`. */
  readonly actor: string;
  readonly atMs: number;
}

const readRecord = rowReader({
  record: integerIn,
  atMs: integerIn,
  actor: textIn,
  /** The command of the change, for example `keys revoke`. */
  action: textIn,
  /** The account that was changed; null for changes of all accounts. */
  accountId: textOrNullIn,
  details: textIn,
});

export type AuditRecord = ReturnType<typeof readRecord>;

export async function recordChange(database: SqlDatabase, record: Omit<AuditRecord, "record">): Promise<void> {
  await database.run(insertInto("audit_log", record));
}

/** A page of the audit log: the records below `before`, of one account if it is named. */
interface AuditLogPage {
  readonly before: number | null;
  readonly limit: number;
  readonly accountId?: string;
}

export async function listAuditRecords(
  database: SqlDatabase,
  { before, limit, accountId }: AuditLogPage,
): Promise<readonly AuditRecord[]> {
  const ofAccount = accountId === undefined ? sql`true` : sql`account_id = ${accountId}`;
  const query = sql`
    SELECT * FROM audit_log WHERE ${ofAccount} AND record < ${before ?? Number.MAX_SAFE_INTEGER}
    ORDER BY record DESC LIMIT ${limit}`;
  return (await database.reading((reader) => reader.all(query))).map(readRecord);
}

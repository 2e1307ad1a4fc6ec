/**
 * pgbench as the baseline: one charge for each transaction, with the statements that a charge needs. Each client has a
 * connection, and its statements are prepared.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../src/base/user-error.ts";
import { connectPostgres } from "../../src/db/postgres.ts";
import { join as joinSql, sql } from "../../src/db/sql.ts";
import type { BenchKey } from "../servers/api-key.ts";
import { type PostgresProcess, postgresPrograms } from "../servers/postgres.ts";
import { processorMsOf } from "../servers/process.ts";

/** The script gets the number of an account; which one that is, is in a table. */
const charge = `
\\set account random(1, :accounts)
BEGIN;
SELECT accounts.account_id FROM accounts
WHERE  account_id = (SELECT account_id FROM bench_keys WHERE number = :account) FOR NO KEY UPDATE;
INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
SELECT gen_random_uuid(), account_id, 'charge', -prices.micros, extract(epoch FROM now()) * 1000, price, key_id
FROM   bench_keys, prices WHERE number = :account AND usage_class = 'listing_search';
COMMIT;
`;

/** Creates the table of the script's accounts. */
export async function fillBenchKeys(url: string, keys: readonly BenchKey[]): Promise<void> {
  const database = await connectPostgres(url, { busyMs: 1000 });
  try {
    await database.run(
      sql`CREATE TABLE bench_keys (number BIGINT PRIMARY KEY, account_id TEXT NOT NULL, key_id TEXT NOT NULL)`,
    );
    const rows = keys.map(({ accountId, keyId }, index) => sql`(${index + 1}, ${accountId}, ${keyId})`);
    await database.run(sql`INSERT INTO bench_keys VALUES ${joinSql(rows)}`);
  } finally {
    await database.close();
  }
}

export interface PgbenchRun {
  readonly clients: number;
  readonly accounts: number;
  readonly seconds: number;
}

/** Runs pgbench. Returns the number of its transactions, and its processor time in milliseconds. */
export async function runPgbench(
  { url, folder }: PostgresProcess,
  { clients, accounts, seconds }: PgbenchRun,
): Promise<{ readonly charges: number; readonly processorMs: number }> {
  const script = join(folder, "charge.sql");
  await writeFile(script, charge);
  const options = { client: clients, jobs: Math.min(2, clients), time: seconds, protocol: "prepared", file: script };
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const program = join(postgresPrograms() ?? "", "pgbench");
  const child = spawn(program, [...flags, "--no-vacuum", `--define=accounts=${accounts}`, url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  let processorMs = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const timer = setInterval(() => {
    processorMs = processorMsOf(child.pid ?? 0) || processorMs;
  }, 50);
  const [code] = await once(child, "close");
  clearInterval(timer);
  const [, charges] = /number of transactions actually processed: (\d+)/.exec(output) ?? [];
  if (code !== 0 || charges === undefined) throw new UserError(`pgbench exited with ${code}: expected 0.`);
  return { charges: Number(charges), processorMs };
}

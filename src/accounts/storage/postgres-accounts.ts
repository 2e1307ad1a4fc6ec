/**
 * Schema of accounts in PostgreSQL. They are in the first schema of the connection's search path. Triggers run once per statement over all of its
 * entries.
 */
import { integerIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { connectPostgres, type PostgresOptions, withoutPassword } from "../../db/postgres.ts";
import { integerLiteral, literal, type Sql, sql } from "../../db/sql.ts";
import { checked, postgresDialect, type SqlDatabase } from "../../db/sql-database.ts";
import { applyRefunds } from "../ledger/ledger.ts";
import { spentIn } from "../ledger/usage.ts";
import { type AccountsSchema, accountsVersion } from "./account-tables.ts";

/** The oldest server that its project maintains. */
const serverVersionMin = 13;

/** The version of the schema, and the requests of the last minute, which a crash of the server may forget. */
const before: readonly Sql[] = [
  sql`CREATE TABLE carquet_accounts (version INTEGER NOT NULL)`,
  sql`INSERT INTO carquet_accounts VALUES (${integerLiteral(accountsVersion)})`,
  sql`CREATE UNLOGGED TABLE carquet_requests (
        account_id TEXT NOT NULL,
        slot       BIGINT NOT NULL,
        requests   INTEGER NOT NULL,
        PRIMARY KEY (account_id, slot)
      ) WITH (fillfactor = 50)`,
];

const { monthOf, dayOf } = postgresDialect;

/**
 * Adds new entries to balances and daily usage. Locks the accounts first: then the rows of an account are updated by one
 * transaction at a time. The functions keep the search path of their creation, so that they find the tables from any connection.
 */
const addEntries: Sql = sql`CREATE FUNCTION add_entries() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      DECLARE
        refusal TEXT;
      BEGIN
        PERFORM account_id FROM accounts WHERE account_id IN (SELECT account_id FROM new_entries)
        ORDER BY account_id FOR NO KEY UPDATE;

        SELECT CASE state WHEN 'suspended' THEN 'a suspended account is not charged' ELSE 'a charge takes no balance below zero' END
        INTO   refusal
        FROM   accounts JOIN (
          SELECT account_id, kind, sum(micros) OVER (PARTITION BY account_id ORDER BY entry) AS added_micros FROM new_entries
        ) AS posted USING (account_id)
        WHERE  kind = 'charge' AND (state = 'suspended' OR balance_micros + added_micros < 0);

        IF refusal IS NOT NULL THEN
          RAISE EXCEPTION '%', refusal;
        END IF;

        UPDATE accounts SET balance_micros = balance_micros + added_micros
        FROM   (SELECT account_id, sum(micros)::bigint AS added_micros FROM new_entries GROUP BY account_id) AS posted
        WHERE  posted.account_id = accounts.account_id;

        INSERT INTO usage_days
        SELECT account_id, ${dayOf(sql`at_ms`)} AS day, usage_class, count(*), -sum(new_entries.micros), min(entry), max(entry)
        FROM   new_entries JOIN prices USING (price) WHERE kind = 'charge' GROUP BY account_id, day, usage_class
        ON CONFLICT (account_id, day, usage_class) DO UPDATE SET
          requests = usage_days.requests + excluded.requests,
          charged_micros = usage_days.charged_micros + excluded.charged_micros,
          last_entry = greatest(usage_days.last_entry, excluded.last_entry);

        IF EXISTS (
          SELECT FROM new_entries JOIN accounts USING (account_id)
          WHERE  kind = 'charge' AND cap_micros IS NOT NULL AND ${spentIn(monthOf(sql`at_ms`))} > cap_micros
        ) THEN
          RAISE EXCEPTION 'a charge stays within the spend cap';
        END IF;

        IF EXISTS (SELECT FROM new_entries WHERE kind = 'adjustment') THEN
          ${applyRefunds(postgresDialect, sql`new_entries`)};
        END IF;
        RETURN NULL;
      END $$`;

/**
 * Counts requests of an account in slots of 100 ms, by the clock of the server, unless one of them would exceed a limit; without limits, whether or not.
 * Returns the requests in the windows of 10 and 60 seconds, and, if it has not counted, how many seconds the windows still have too many. Calls
 * for an account wait for each other.
 */
const countRequests: Sql = sql`CREATE FUNCTION count_requests(counted TEXT, added INTEGER, per_10s INTEGER, per_60s INTEGER,
        OUT in_10s INTEGER, OUT in_60s INTEGER, OUT wait_10s DOUBLE PRECISION, OUT wait_60s DOUBLE PRECISION)
      LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      DECLARE
        now_s DOUBLE PRECISION;
        now_slot BIGINT;
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(counted, 1668380020));
        now_s := extract(epoch FROM clock_timestamp());
        now_slot := floor(now_s * 10);
        SELECT coalesce(sum(requests) FILTER (WHERE slot >= now_slot - 100), 0), coalesce(sum(requests), 0) INTO in_10s, in_60s
        FROM   carquet_requests WHERE account_id = counted AND slot >= now_slot - 600;
        IF in_10s >= per_10s OR in_60s >= per_60s THEN
          SELECT CASE WHEN in_10s >= per_10s THEN coalesce((max(slot) FILTER (WHERE later >= per_10s) + 101) / 10.0 - now_s, 10) END,
                 CASE WHEN in_60s >= per_60s THEN coalesce((max(slot) FILTER (WHERE later >= per_60s) + 601) / 10.0 - now_s, 60) END
          INTO   wait_10s, wait_60s
          FROM   (SELECT slot, sum(requests) OVER (ORDER BY slot DESC) AS later
                  FROM carquet_requests WHERE account_id = counted AND slot >= now_slot - 600) AS slots;
          RETURN;
        END IF;
        DELETE FROM carquet_requests WHERE account_id = counted AND slot < now_slot - 600;
        INSERT INTO carquet_requests VALUES (counted, now_slot, added)
        ON CONFLICT (account_id, slot) DO UPDATE SET requests = carquet_requests.requests + excluded.requests;
        in_10s := in_10s + added;
        in_60s := in_60s + added;
      END $$`;

const appendOnly = (table: Sql, rows: string): readonly Sql[] => [
  sql`CREATE TRIGGER rows_are_never_changed BEFORE UPDATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(${literal(`${rows} are never changed`)})`,
  sql`CREATE TRIGGER rows_are_never_removed BEFORE DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(${literal(`${rows} are never removed`)})`,
];

const triggers: readonly Sql[] = [
  addEntries,
  countRequests,
  sql`CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION '%', TG_ARGV[0];
      END $$`,
  sql`CREATE TRIGGER balances_and_usage_follow_from_entries AFTER INSERT ON entries
      REFERENCING NEW TABLE AS new_entries FOR EACH STATEMENT EXECUTE FUNCTION add_entries()`,
  ...appendOnly(sql`entries`, "entries"),
  ...appendOnly(sql`confirmations`, "confirmations"),
  ...appendOnly(sql`audit_log`, "audit records"),
];

export const serverSchema: AccountsSchema = {
  before,
  triggers,
  async findVersion(database) {
    const found = await database.one(sql`SELECT to_regclass('carquet_accounts') IS NOT NULL AS is_there`);
    if (found?.is_there !== true) return undefined;
    return integerIn(await database.one(sql`SELECT version FROM carquet_accounts`), "version");
  },
  async isEmpty(database) {
    await database.run(sql`SELECT pg_advisory_xact_lock(1668380020)`);
    return (await this.findVersion(database)) === undefined;
  },
  missing: 'The database has no accounts: expected tables created by "carquet accounts create".',
};

/** Connects to a server of a supported version. Throws a UserError. */
export async function connectServer(url: string, options: PostgresOptions): Promise<SqlDatabase> {
  return checked(await connectPostgres(url, options), async (database) => {
    const row = await database.one(sql`SELECT current_setting('server_version_num')::integer / 10000 AS version`);
    const version = integerIn(row, "version");
    if (version < serverVersionMin)
      throw new UserError(
        `${withoutPassword(url)}: Unsupported PostgreSQL ${version}: expected version ${serverVersionMin} or newer.`,
      );
  });
}

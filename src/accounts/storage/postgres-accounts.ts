/**
 * Accounts in PostgreSQL: their schema, and the functions that open and create them. They are in the first schema of the connection's search
 * path. Triggers run once per statement over all of its entries, so that a batch of charges updates each balance once.
 */
import { integerIn } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { PostgresDatabase, type PostgresOptions, withoutPassword } from "../../db/postgres.ts";
import { integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { postgresDialect, type SqlDatabase } from "../../db/sql-database.ts";
import { applyRefunds } from "../ledger/ledger.ts";
import { accountsVersion, accountTableStatements, requireAccountsVersion } from "./account-tables.ts";

/** The oldest server that its project maintains. */
const serverVersionMin = 13;

/** The version of the schema, the last commit of each connection, and the tables of accounts. */
const tables: readonly Sql[] = [
  sql`CREATE TABLE carquet_accounts (version INTEGER NOT NULL)`,
  sql`CREATE TABLE carquet_commits (
        name           TEXT PRIMARY KEY,
        transaction_id TEXT NOT NULL,
        at             TIMESTAMPTZ NOT NULL DEFAULT now()
      ) WITH (fillfactor = 50)`,
  ...accountTableStatements("postgres"),
];

const { monthOf, dayOf } = postgresDialect;

/**
 * Adds new entries to balances, monthly spending and daily usage. Locks the accounts first: then the rows of an account are updated by one
 * transaction at a time. The functions keep the search path of their creation, so that they find the tables from any connection.
 */
const addEntries: Sql = sql`CREATE FUNCTION add_entries() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        PERFORM account_id FROM accounts WHERE account_id IN (SELECT account_id FROM new_entries)
        ORDER BY account_id FOR NO KEY UPDATE;

        IF EXISTS (
          SELECT FROM accounts JOIN (
            SELECT account_id, kind, sum(micros) OVER (PARTITION BY account_id ORDER BY entry) AS added_micros FROM new_entries
          ) AS posted USING (account_id)
          WHERE  kind = 'charge' AND balance_micros + added_micros < 0
        ) THEN
          RAISE EXCEPTION 'a charge takes no balance below zero';
        END IF;

        UPDATE accounts SET balance_micros = balance_micros + added_micros
        FROM   (SELECT account_id, sum(micros)::bigint AS added_micros FROM new_entries GROUP BY account_id) AS posted
        WHERE  posted.account_id = accounts.account_id;

        INSERT INTO spending
        SELECT account_id, ${monthOf(sql`at_ms`)} AS month, -sum(micros)
        FROM   new_entries WHERE kind = 'charge' GROUP BY account_id, month
        ON CONFLICT (account_id, month) DO UPDATE SET micros = spending.micros + excluded.micros;

        INSERT INTO usage_days
        SELECT account_id, ${dayOf(sql`at_ms`)} AS day, usage_class, count(*), -sum(new_entries.micros), min(entry), max(entry)
        FROM   new_entries JOIN prices USING (price) WHERE kind = 'charge' GROUP BY account_id, day, usage_class
        ON CONFLICT (account_id, day, usage_class) DO UPDATE SET
          requests = usage_days.requests + excluded.requests,
          charged_micros = usage_days.charged_micros + excluded.charged_micros,
          last_entry = greatest(usage_days.last_entry, excluded.last_entry);

        IF EXISTS (SELECT FROM new_entries WHERE kind = 'adjustment') THEN
          ${join(applyRefunds(postgresDialect, sql`new_entries`), sql`;\n          `)};
        END IF;
        RETURN NULL;
      END $$`;

const appendOnly = (table: Sql, rows: string): readonly Sql[] => [
  sql`CREATE TRIGGER rows_are_never_changed BEFORE UPDATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(${literal(`${rows} are never changed`)})`,
  sql`CREATE TRIGGER rows_are_never_removed BEFORE DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(${literal(`${rows} are never removed`)})`,
];

const triggers: readonly Sql[] = [
  addEntries,
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

/** Opens existing accounts of the current version. Throws a UserError for any other database. */
export function openPostgresAccounts(url: string, options: PostgresOptions): PostgresDatabase {
  const location = withoutPassword(url);
  const database = connectTo(url, options);
  try {
    if (!hasAccounts(database))
      throw new UserError(
        `${location}: The database has no accounts: expected tables created by "carquet accounts create".`,
      );
    requireAccountsVersion(location, integerIn(database.one(sql`SELECT version FROM carquet_accounts`), "version"));
    database.recordCommits();
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

export const hasAccounts = (database: SqlDatabase): boolean =>
  database.one(sql`SELECT to_regclass('carquet_accounts') IS NOT NULL AS is_there`)?.is_there === true;

/** Opens accounts; creates them with the current schema if the database has none. */
export function createPostgresAccounts(url: string, options: PostgresOptions): PostgresDatabase {
  const database = connectTo(url, options);
  try {
    database.transaction(() => {
      // If several services start at once, one creates the schema.
      database.run(sql`SELECT pg_advisory_xact_lock(1668380020)`);
      if (!hasAccounts(database)) createPostgresSchema(database);
    });
  } catch (thrown) {
    throw new UserError(`${withoutPassword(url)}: Accounts cannot be created: ${messageOf(thrown)}.`, {
      cause: thrown,
    });
  } finally {
    database.close();
  }
  return openPostgresAccounts(url, options);
}

/** Creates all tables. Calls `fill` before the triggers exist, which derive values and forbid changes. */
export function createPostgresSchema(database: SqlDatabase, fill: () => void = () => undefined): void {
  for (const statement of tables) database.run(statement);
  database.run(sql`INSERT INTO carquet_accounts VALUES (${integerLiteral(accountsVersion)})`);
  fill();
  for (const statement of triggers) database.run(statement);
}

function connectTo(url: string, options: PostgresOptions): PostgresDatabase {
  const database = PostgresDatabase.open(url, options);
  const row = database.one(sql`SELECT current_setting('server_version_num')::integer / 10000 AS version`);
  const version = integerIn(row, "version");
  if (version >= serverVersionMin) return database;
  database.close();
  throw new UserError(
    `${withoutPassword(url)}: Unsupported PostgreSQL ${version}: expected version ${serverVersionMin} or newer.`,
  );
}

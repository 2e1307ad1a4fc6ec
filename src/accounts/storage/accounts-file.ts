/**
 * Schema of the accounts file, a SQLite database. `entries` is the ledger: append-only. Triggers derive balances and daily usage from it, so no writer
 * can skip one. `PRAGMA user_version` is the version of the schema.
 */
import { integerIn } from "../../base/json.ts";
import { integerLiteral, literal, plainIdent, type Sql, sql } from "../../db/sql.ts";
import { sqliteDialect } from "../../db/sql-database.ts";
import { applyRefunds } from "../ledger/ledger.ts";
import { spentIn } from "../ledger/usage.ts";
import { type AccountsSchema, accountsVersion } from "./account-tables.ts";

const applicationId = 1_668_380_020;

const newEntry = sql`(SELECT NEW.account_id AS account_id, NEW.kind AS kind, NEW.micros AS micros, NEW.reference AS reference)`;

const appendOnly = (table: string, rows: string): readonly Sql[] =>
  Object.entries({ changed: sql`UPDATE`, removed: sql`DELETE` }).map(([done, operation]) => {
    const name = plainIdent(`${rows.replace(" ", "_")}_are_never_${done}`);
    return sql`CREATE TRIGGER ${name} BEFORE ${operation} ON ${plainIdent(table)}
      BEGIN SELECT RAISE(ABORT, ${literal(`${rows} are never ${done}`)}); END`;
  });

const triggers: readonly Sql[] = [
  ...appendOnly("entries", "entries"),
  ...appendOnly("confirmations", "confirmations"),
  ...appendOnly("audit_log", "audit records"),
  sql`CREATE TRIGGER a_charge_is_covered BEFORE INSERT ON entries WHEN NEW.kind = 'charge'
      BEGIN
        SELECT CASE WHEN balance_micros + NEW.micros < 0 THEN RAISE(ABORT, 'a charge takes no balance below zero')
                    WHEN state = 'suspended' THEN RAISE(ABORT, 'a suspended account is not charged')
                    WHEN cap_micros IS NOT NULL AND ${spentIn(sqliteDialect.monthOf(sql`NEW.at_ms`))} - NEW.micros > cap_micros
                    THEN RAISE(ABORT, 'a charge stays within the spend cap') END
        FROM   accounts WHERE account_id = NEW.account_id;
      END`,
  sql`CREATE TRIGGER a_balance_follows_from_its_entries AFTER INSERT ON entries
      BEGIN
        UPDATE accounts SET balance_micros = balance_micros + NEW.micros WHERE account_id = NEW.account_id;
      END`,
  // The entries of a day's charges lie between `first_entry` and `last_entry` of its row. Unlike an index over the entries of an account, which
  // costs half as much as posting a charge, they are in a row that each charge updates anyway.
  sql`CREATE TRIGGER usage_follows_from_charges AFTER INSERT ON entries WHEN NEW.kind = 'charge'
      BEGIN
        INSERT INTO usage_days
        SELECT NEW.account_id, date(NEW.at_ms / 1000, 'unixepoch'), usage_class, 1, -NEW.micros, NEW.entry, NEW.entry
        FROM   prices WHERE price = NEW.price
        ON CONFLICT DO UPDATE SET requests = requests + 1, charged_micros = charged_micros + excluded.charged_micros,
                                  last_entry = excluded.last_entry;
      END`,
  // A refunded charge counts neither as spending nor as usage.
  sql`CREATE TRIGGER usage_follows_from_refunds AFTER INSERT ON entries
      WHEN NEW.kind = 'adjustment' AND NEW.reference IS NOT NULL
      BEGIN
        ${applyRefunds(sqliteDialect, newEntry)};
      END`,
];

export const fileSchema: AccountsSchema = {
  before: [
    sql`PRAGMA application_id = ${integerLiteral(applicationId)}`,
    sql`PRAGMA user_version = ${integerLiteral(accountsVersion)}`,
  ],
  triggers,
  async findVersion(database) {
    const found = integerIn(await database.one(sql`PRAGMA application_id`), "application_id");
    if (found !== applicationId) return undefined;
    return integerIn(await database.one(sql`PRAGMA user_version`), "user_version");
  },
  isEmpty: async (database) => (await database.one(sql`SELECT name FROM sqlite_schema LIMIT 1`)) === undefined,
  missing: 'Not an accounts file: expected a file created by "carquet accounts create".',
};

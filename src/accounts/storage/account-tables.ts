/**
 * The tables of accounts, once for both engines: their schemas are rendered from this description, and a copy follows it. The tables are in an
 * order in which rows refer to earlier ones only. The schema of each engine adds the triggers. Amounts are micros; times are Unix milliseconds.
 */
import { join, plainIdent, type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase, SqlDialect } from "../../db/sql-database.ts";

/** The version of the tables and triggers of both engines, which each file and database records. A change of them needs another number. */
export const accountsVersion = 1;

/** What an engine has besides the tables of accounts. */
export interface AccountsSchema {
  /** Records the version, and creates what only this engine has. */
  readonly before: readonly Sql[];
  readonly triggers: readonly Sql[];
  /** Returns the version of the accounts in a database; undefined if it has none. */
  findVersion(database: SqlDatabase): Promise<number | undefined>;
  /** Returns whether accounts can be created, in the transaction that creates them: another one that would waits for it. */
  isEmpty(database: SqlDatabase): Promise<boolean>;
  /** What is wrong with a location without accounts. */
  readonly missing: string;
}

/** Of columns: `small` has 32 bits in PostgreSQL; `identity` numbers new rows. */
type AccountColumnType = "text" | "integer" | "small" | "identity";

interface AccountColumn {
  readonly type: AccountColumnType;
  readonly isNullable?: boolean;
  /** Part of the primary key, in the order of the columns. */
  readonly isPrimary?: boolean;
  /** DEFAULT, UNIQUE, CHECK and REFERENCES. */
  readonly constraints: Sql;
  /** A CHECK that only SQLite supports. */
  readonly sqliteCheck?: Sql;
}

export interface AccountTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, AccountColumn>>;
  /** A CHECK or UNIQUE of several columns. */
  readonly constraint?: Sql;
  readonly indexes?: readonly Sql[];
  /** A row is updated by each charge. */
  readonly isUpdatedOften?: boolean;
  /** SQLite keeps rows by their number, not by the primary key, as it does in tables with an identity. */
  readonly hasRowid?: boolean;
}

const column =
  (type: AccountColumnType) =>
  (constraints: Sql = sql``): AccountColumn => ({ type, constraints });
const text = column("text");
const integer = column("integer");
const small = column("small");
const nullable = (definition: AccountColumn): AccountColumn => ({ ...definition, isNullable: true });
const primary = (definition: AccountColumn): AccountColumn => ({ ...definition, isPrimary: true });
const identity = primary(column("identity")());

const ofAccount = text(sql`REFERENCES accounts`);
const sha256 = text(sql`CHECK (length(sha256) = 64)`);

// biome-ignore format: a table is read by its columns
export const accountTables: readonly AccountTable[] = [
  { name: "accounts", hasRowid: true, isUpdatedOften: true, columns: {
      account_id:     primary(text()),
      email:          text(),
      created_at_ms:  integer(),
      tier:           small(sql`CHECK (tier BETWEEN 1 AND 4)`),
      state:          text(sql`DEFAULT 'active' CHECK (state IN ('active', 'suspended'))`),
      balance_micros: integer(sql`DEFAULT 0 CHECK (abs(balance_micros) <= 9007199254740991)`),
      low_micros:     integer(sql`CHECK (low_micros >= 0)`),
      cap_micros:     nullable(integer(sql`CHECK (cap_micros >= 0)`)),
      per_10s:        nullable(integer(sql`CHECK (per_10s >= 0)`)),
      per_60s:        nullable(integer(sql`CHECK (per_60s >= 0)`)),
      is_operator:    small(sql`DEFAULT 0 CHECK (is_operator IN (0, 1))`),
    },
    constraint: sql`CHECK ((per_10s IS NULL) = (per_60s IS NULL))`,
    indexes: [sql`CREATE INDEX accounts_by_email ON accounts (lower(email))`],
  },
  { name: "keys", hasRowid: true, columns: {
      key_id:        primary(text()),
      account_id:    ofAccount,
      sha256,
      scopes:        text(),
      created_at_ms: integer(),
      revoked_at_ms: nullable(integer()),
      name:          text(),
      is_web:        small(sql`CHECK (is_web IN (0, 1))`),
      client_id:     nullable(text()),
    },
    indexes: [
      sql`CREATE INDEX keys_by_account ON keys (account_id)`,
      sql`CREATE UNIQUE INDEX one_web_key_of_an_account ON keys (account_id) WHERE is_web = 1 AND revoked_at_ms IS NULL`,
    ],
  },
  { name: "prices", columns: {
      price:           identity,
      pricing_version: text(),
      usage_class:     text(),
      micros:          integer(sql`CHECK (micros > 0)`),
    },
    constraint: sql`UNIQUE (pricing_version, usage_class)`,
  },
  { name: "entries", columns: {
      entry:      identity,
      entry_id:   text(sql`UNIQUE`),
      account_id: ofAccount,
      kind:       text(),
      micros:     integer(),
      at_ms:      integer(),
      price:      nullable(integer(sql`REFERENCES prices`)),
      key_id:     nullable(text(sql`REFERENCES keys`)),
      credit_id:  nullable(text(sql`REFERENCES entries (entry_id)`)),
      reference:  nullable(text()),
      note:       nullable(text()),
    },
    constraint: sql`
      CHECK (CASE kind WHEN 'paid'                THEN micros > 0
                       WHEN 'promotional'         THEN micros > 0
                       WHEN 'charge'              THEN micros < 0 AND price IS NOT NULL AND key_id IS NOT NULL
                       WHEN 'adjustment'          THEN micros <> 0
                       WHEN 'chargeback_reversal' THEN micros < 0 AND credit_id IS NOT NULL
                       ELSE false END)`,
    indexes: [
      sql`CREATE INDEX entries_beside_charges ON entries (account_id, entry) WHERE kind <> 'charge'`,
      sql`CREATE UNIQUE INDEX one_entry_of_a_reference ON entries (reference) WHERE reference IS NOT NULL`,
      sql`CREATE UNIQUE INDEX one_reversal_of_a_credit ON entries (credit_id) WHERE kind = 'chargeback_reversal'`,
    ],
  },
  { name: "idempotency_keys", columns: {
      account_id:      primary(ofAccount),
      idempotency_key: primary(text()),
      sha256,
      charge_id:       text(sql`REFERENCES entries (entry_id)`),
      at_ms:           integer(),
    },
    indexes: [sql`CREATE INDEX idempotency_keys_by_time ON idempotency_keys (at_ms)`],
  },
  { name: "confirmations", columns: { credit_id: primary(text(sql`REFERENCES entries (entry_id)`)), at_ms: integer() } },
  { name: "usage_days", isUpdatedOften: true, columns: {
      account_id:     primary(ofAccount),
      day:            primary(text()),
      usage_class:    primary(text()),
      requests:       integer(),
      charged_micros: integer(),
      first_entry:    integer(),
      last_entry:     integer(),
    },
  },
  { name: "reviews", columns: {
      review:      identity,
      account_id:  ofAccount,
      day:         text(),
      from_tier:   small(),
      to_tier:     small(),
      outcome:     text(sql`CHECK (outcome IN ('automatic', 'queued', 'approved', 'declined'))`),
      decided_day: nullable(text()),
    },
    indexes: [sql`CREATE UNIQUE INDEX one_queued_review_of_an_account ON reviews (account_id) WHERE outcome = 'queued'`],
  },
  { name: "reviewed_days", columns: { day: primary(text()) } },
  { name: "key_uses", columns: { key_id: primary(text(sql`REFERENCES keys`)), last_used_at_ms: integer() } },
  { name: "passwords", columns: { account_id: primary(ofAccount), hash: text(), changed_at_ms: integer() } },
  { name: "one_time_links", columns: {
      sha256:        primary(sha256),
      account_id:    ofAccount,
      kind:          text(sql`CHECK (kind IN ('invitation', 'sign_in'))`),
      expires_at_ms: integer(),
    },
    indexes: [sql`CREATE UNIQUE INDEX one_link_of_a_kind ON one_time_links (account_id, kind)`],
  },
  { name: "sessions", columns: {
      sha256:        primary(sha256),
      account_id:    ofAccount,
      key_id:        text(sql`REFERENCES keys`),
      created_at_ms: integer(),
      seen_at_ms:    integer(),
    },
    indexes: [sql`CREATE INDEX sessions_by_account ON sessions (account_id)`],
  },
  { name: "oauth_state", columns: {
      kind:           primary(text()),
      sha256:         primary(sha256),
      key_id:         nullable(text(sql`REFERENCES keys`)),
      expires_at_ms:  integer(),
      consumed_at_ms: nullable(integer()),
      content:        { ...text(), sqliteCheck: sql`CHECK (json_valid(content))` },
    },
    indexes: [
      sql`CREATE INDEX oauth_state_by_expiry ON oauth_state (expires_at_ms)`,
      sql`CREATE INDEX oauth_state_by_key ON oauth_state (key_id) WHERE key_id IS NOT NULL`,
    ],
  },
  { name: "saved_searches", hasRowid: true, columns: {
      search_id:     primary(text()),
      account_id:    ofAccount,
      key_id:        text(sql`REFERENCES keys`),
      name:          text(),
      query:         text(),
      url:           nullable(text()),
      secret:        text(),
      old_secret:    nullable(text()),
      old_until_ms:  integer(sql`DEFAULT 0`),
      created_at_ms: integer(),
      since:         text(),
      target:        nullable(text()),
      page_cursor:   nullable(text()),
      page_sent:     integer(sql`DEFAULT 0`),
      stopped:       nullable(text()),
      attempts:      integer(sql`DEFAULT 0`),
      next_at_ms:    integer(),
      messages:      integer(sql`DEFAULT 0`),
      last_at_ms:    nullable(integer()),
      last_outcome:  nullable(text()),
    },
    indexes: [sql`CREATE INDEX saved_searches_by_account ON saved_searches (account_id)`],
  },
  { name: "audit_log", columns: {
      record:     identity,
      at_ms:      integer(),
      actor:      text(),
      action:     text(),
      account_id: nullable(ofAccount),
      details:    text(),
    },
    indexes: [sql`CREATE INDEX audit_log_by_account ON audit_log (account_id, record)`],
  },
];

export const primaryKeyOf = ({ columns }: AccountTable): readonly string[] =>
  Object.keys(columns).filter((name) => columns[name]?.isPrimary === true);

/** Returns the column that numbers new rows of a table, if it has one. */
export const identityColumnOf = ({ columns }: AccountTable): string | undefined =>
  Object.keys(columns).find((name) => columns[name]?.type === "identity");

const typeNames: Readonly<Record<SqlDialect["name"], Readonly<Record<AccountColumnType, Sql>>>> = {
  sqlite: { text: sql`TEXT`, integer: sql`INTEGER`, small: sql`INTEGER`, identity: sql`INTEGER` },
  postgres: {
    text: sql`TEXT`,
    integer: sql`BIGINT`,
    small: sql`INTEGER`,
    identity: sql`BIGINT GENERATED BY DEFAULT AS IDENTITY`,
  },
};

export const accountTableStatements = (engine: SqlDialect["name"]): readonly Sql[] =>
  accountTables.flatMap((table) => [createTable(table, engine), ...(table.indexes ?? [])]);

function createTable(table: AccountTable, engine: SqlDialect["name"]): Sql {
  const primaryKey = primaryKeyOf(table);
  const columns = Object.entries(table.columns).map(([name, { type, constraints, ...column }]) => {
    const isPrimaryKey = column.isPrimary === true && primaryKey.length === 1;
    const required = isPrimaryKey ? sql`PRIMARY KEY` : column.isNullable === true ? sql`` : sql`NOT NULL`;
    const check = engine === "sqlite" ? (column.sqliteCheck ?? sql``) : sql``;
    return join([plainIdent(name), typeNames[engine][type], required, constraints, check].filter(isGiven), sql` `);
  });
  const ofKey = primaryKey.length > 1 ? [sql`PRIMARY KEY (${join(primaryKey.map(plainIdent))})`] : [];
  const parts = [...columns, ...(table.constraint === undefined ? [] : [table.constraint]), ...ofKey];
  return sql`CREATE TABLE ${plainIdent(table.name)} (${join(parts, sql`, `)})${optionsOf(table, engine)}`;
}

const isGiven = ({ text }: Sql): boolean => text !== "";

/** Returns the table options after the columns. Free space in a page lets a row be updated without its indexes. */
function optionsOf(table: AccountTable, engine: SqlDialect["name"]): Sql {
  if (engine === "postgres") return table.isUpdatedOften === true ? sql` WITH (fillfactor = 50)` : sql``;
  const hasRowid = table.hasRowid === true || identityColumnOf(table) !== undefined;
  return hasRowid ? sql` STRICT` : sql` STRICT, WITHOUT ROWID`;
}

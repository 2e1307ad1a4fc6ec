/** The tables of accounts with their columns, in an order in which rows refer to earlier ones only. A test compares them with both schemas. */
import type { Columns } from "../db/sql-database.ts";

export interface CopiedTable {
  readonly name: string;
  readonly columns: Columns;
  readonly primaryKey: readonly string[];
  /** The column that numbers new rows, if there is one. */
  readonly identity?: string;
}

const [text, integer] = ["text", "integer"] as const;

// biome-ignore format: a table is read by its columns
export const copiedTables: readonly CopiedTable[] = [
  { name: "accounts", primaryKey: ["account_id"], columns: {
      account_id: text, email: text, created_at_ms: integer, tier: integer, state: text, balance_micros: integer, low_micros: integer,
      cap_micros: integer, per_10s: integer, per_60s: integer, is_operator: integer } },
  { name: "keys", primaryKey: ["key_id"], columns: {
      key_id: text, account_id: text, sha256: text, scopes: text, created_at_ms: integer, revoked_at_ms: integer, name: text,
      is_web: integer, client_id: text } },
  { name: "prices", primaryKey: ["price"], identity: "price", columns: {
      price: integer, pricing_version: text, usage_class: text, micros: integer } },
  { name: "entries", primaryKey: ["entry"], identity: "entry", columns: {
      entry: integer, entry_id: text, account_id: text, kind: text, micros: integer, at_ms: integer, price: integer, key_id: text,
      credit_id: text, reference: text, note: text } },
  { name: "idempotency_keys", primaryKey: ["account_id", "idempotency_key"], columns: {
      account_id: text, idempotency_key: text, sha256: text, charge_id: text, at_ms: integer } },
  { name: "confirmations", primaryKey: ["credit_id"], columns: { credit_id: text, at_ms: integer } },
  { name: "spending", primaryKey: ["account_id", "month"], columns: { account_id: text, month: text, micros: integer } },
  { name: "usage_days", primaryKey: ["account_id", "day", "usage_class"], columns: {
      account_id: text, day: text, usage_class: text, requests: integer, charged_micros: integer, first_entry: integer,
      last_entry: integer } },
  { name: "reviews", primaryKey: ["review"], identity: "review", columns: {
      review: integer, account_id: text, day: text, from_tier: integer, to_tier: integer, outcome: text, decided_day: text } },
  { name: "reviewed_days", primaryKey: ["day"], columns: { day: text } },
  { name: "key_uses", primaryKey: ["key_id"], columns: { key_id: text, last_used_at_ms: integer } },
  { name: "passwords", primaryKey: ["account_id"], columns: { account_id: text, hash: text, changed_at_ms: integer } },
  { name: "one_time_links", primaryKey: ["sha256"], columns: {
      sha256: text, account_id: text, kind: text, expires_at_ms: integer } },
  { name: "sessions", primaryKey: ["sha256"], columns: {
      sha256: text, account_id: text, key_id: text, created_at_ms: integer, seen_at_ms: integer } },
  { name: "oauth_state", primaryKey: ["kind", "sha256"], columns: {
      kind: text, sha256: text, key_id: text, expires_at_ms: integer, consumed_at_ms: integer, content: text } },
  { name: "audit_log", primaryKey: ["record"], identity: "record", columns: {
      record: integer, at_ms: integer, actor: text, action: text, account_id: text, details: text } },
];

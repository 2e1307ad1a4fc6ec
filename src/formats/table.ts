/** Rows of an operation's answer with their columns: what the formats encode. */
import type { Row } from "../base/json.ts";
import type { Column } from "../contract/tables.ts";

export interface Table {
  readonly columns: readonly Column[];
  /** A property that a row lacks counts as null. */
  readonly rows: readonly Row[];
  /** Texts by key, for formats that can hold them. */
  readonly metadata: Readonly<Record<string, string>>;
}

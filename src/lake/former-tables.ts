/**
 * Tables of the lake formats 1 and 2, which hold every day as a full copy, as those of the current format: a copy is rows that hold for one
 * day. Carquet reads such a lake, and writes to it once it has been migrated.
 */
import type { LakeFile, TableFiles } from "./listed-file.ts";
import { openPartition } from "./tables.ts";

/** The partition key of each former table; null for dimensions. */
export const formerPartitions = {
  ...{ snapshots: "snapshot_date", missing: "as_of", sold: "sold_month", ended: "ended_month", contenders: "as_of" },
  ...{ claims: "claim_date", deliveries: "delivery_date", rejects: "delivery_date" },
  ...{ builds: null, dealers: null, tokens: null, options: null },
} as const;

export type FormerTable = keyof typeof formerPartitions;

export type FormerTables = Partial<Readonly<Record<FormerTable, readonly LakeFile[]>>>;

/** Returns the tables of a former format that are read, without those of still earlier releases. */
export const formerTablesIn = (tables: FormerTables): FormerTables =>
  Object.fromEntries(Object.entries(tables).filter(([table]) => table in formerPartitions));

/** The content of a version of a former format in terms of the current one. */
interface FormerContents {
  readonly tables: TableFiles;
  readonly days: Readonly<Record<string, number>>;
}

/** Returns the tables and days of a version of a former format. Missing listings and contenders of past days are not among them. */
export function readFormer(former: FormerTables, asOf: string): FormerContents {
  const { snapshots = [], missing = [], ended = [], contenders = [], deliveries = [] } = former;
  const current = (files: readonly LakeFile[]): readonly LakeFile[] =>
    files.filter(({ partition }) => partition === asOf).map((file) => ({ ...file, partition: openPartition }));
  const tables: TableFiles = {
    listings: snapshots.filter(({ partition }) => partition === asOf),
    snapshots: snapshots.filter(({ partition }) => partition !== asOf),
    missing: [...current(missing), ...ended],
    contenders: current(contenders),
    sold: former.sold ?? [],
    ...{ builds: former.builds ?? [], dealers: former.dealers ?? [] },
    ...{ tokens: former.tokens ?? [], options: former.options ?? [] },
    ...{ deliveries, rejects: former.rejects ?? [] },
    ...{ valuations: [], price_effects: [] },
  };
  const days = [...new Set(deliveries.map(({ partition }) => partition ?? ""))].sort();
  const listingsOn = (day: string): number =>
    snapshots.filter(({ partition }) => partition === day).reduce((sum, { rows }) => sum + rows, 0);
  return { tables, days: Object.fromEntries(days.map((day) => [day, listingsOn(day)])) };
}

/**
 * From a day's feeds to a published version of the lake.
 *
 * Reading, judging, attributing and writing are set-based SQL over temporary tables; each step's module says which tables it
 * makes. Whatever fails on the way leaves the published version as it was.
 */
import { Failure } from "../base/failure.ts";
import { integerIn, type Row, textIn } from "../base/json.ts";
import { name, type Sql, sql } from "../base/sql.ts";
import type { DatabaseOptions, Session } from "../lake/duckdb.ts";
import type { TableName } from "../lake/layout.ts";
import { currentManifest, type Files, type Keyed, type LakeFile, type Manifest, noFiles } from "../lake/manifest.ts";
import { filesIn, rowsOfFiles } from "../lake/views.ts";
import { nextManifest, publish, type Writer, writeFile, writing } from "../lake/writer.ts";
import { attributeClaims, noteDelivered } from "./attribute.ts";
import { keyDealers } from "./dealers.ts";
import type { Delivery } from "./delivery.ts";
import { liveAndDie, withTrim } from "./lifecycle.ts";
import type { Mapping } from "./mapping.ts";
import { beginParsing, endParsing, parseRows } from "./parse.ts";
import { readDelivery } from "./read.ts";
import { loadReference } from "./spellings.ts";
import { greatestKeys, keyBuilds, keyOptions, keyTokens } from "./star.ts";
import { describeVehicles } from "./vehicles.ts";

/** What came of a delivery: inventory rows = listed + elsewhere + merged + rejected. */
export interface Account {
  readonly day: string;
  readonly version: string;
  /** Rows of the inventory files. */
  readonly rows: number;
  /** Rows that gave a listing of the active inventory. */
  readonly listed: number;
  /** Rows of VINs that are attributed to another dealer. */
  readonly elsewhere: number;
  /** Rows that a later row of the same VIN and dealer replaced. */
  readonly merged: number;
  /** Rows without a usable VIN or dealer. */
  readonly rejected: number;
  /** Values that were not usable and became unknown. */
  readonly unknown: number;
  /** Warnings: rows that are used in spite of them. */
  readonly noted: number;
  /** Active listings, of all dealers. */
  readonly active: number;
  /** What was recorded, counted by outcome, field and reason. */
  readonly reasons: readonly Reason[];
  /** Columns that were ignored, in words. */
  readonly remarks: readonly string[];
}

export interface Reason {
  readonly outcome: string;
  readonly field: string;
  readonly reason: string;
  readonly count: number;
}

export interface IngestOptions extends DatabaseOptions {
  readonly mapping?: Mapping;
  /** Called as each step of a day begins, with its number, how many there are, and what it does. */
  readonly onStep?: (day: string, step: number, steps: number, what: string) => void;
  /** Called when a day has been published. */
  readonly onPublished?: (account: Account) => void;
}

/**
 * Ingests deliveries in the order of their days and publishes after each. Fails, with nothing published of that day, when a
 * file is broken or a day is already in.
 */
export async function ingest(
  lake: string,
  deliveries: readonly Delivery[],
  options: IngestOptions = {},
): Promise<readonly Account[]> {
  return writing(lake, options, async (writer) => {
    const accounts: Account[] = [];
    for (const delivery of deliveries) {
      const account = await ingestDay(writer, delivery, options);
      accounts.push(account);
      options.onPublished?.(account);
    }
    return accounts;
  });
}

async function ingestDay(writer: Writer, delivery: Delivery, { mapping, onStep }: IngestOptions): Promise<Account> {
  const { lake, session } = writer;
  const { day } = delivery;
  const previous = await currentManifest(lake);
  if (previous !== undefined && previous.as_of >= day) {
    throw new Failure(`${day} is already in: the lake is at ${previous.as_of}, and days go in order.`);
  }
  const manifest = nextManifest(previous, day);
  let remarks: readonly string[] = [];
  let rows = 0;
  let files: Files = manifest.tables;
  const steps: readonly (readonly [what: string, work: () => Promise<void>])[] = [
    [
      "reads the files",
      async () => {
        await showLake(session, lake, previous);
        await beginParsing(session, day);
        remarks = await readDelivery(session, delivery, mapping, (table, read) => parseRows(session, table, read, day));
        rows = await count(session, sql`FROM parsed_inventory`);
        await endParsing(session);
      },
    ],
    [
      "normalises",
      async () => {
        await loadReference(session);
        await keyDealers(session, manifest.keys.dealers);
        await keyBuilds(session, manifest.keys.builds);
        await keyTokens(session, manifest.keys.tokens);
        await keyOptions(session, manifest.keys.options);
      },
    ],
    [
      "attributes each VIN to its owner",
      async () => {
        await noteDelivered(session, day);
        await attributeClaims(session, day);
      },
    ],
    [
      "lives and dies",
      async () => {
        await describeVehicles(session, day);
        await liveAndDie(session, day);
      },
    ],
    [
      "writes the partition",
      async () => {
        files = await writeTables(writer, manifest);
      },
    ],
  ];
  for (const [index, [what, work]] of steps.entries()) {
    onStep?.(day, index + 1, steps.length, what);
    await work();
  }
  const published = { ...manifest, keys: await greatestKeys(session, manifest.keys), tables: files };
  await publish(lake, published);
  return { ...(await accountOf(session)), day, version: manifest.version, rows, remarks };
}

/** The published lake as `lake_<table>`: dimensions whole, listings and claims as of the last day. */
async function showLake(session: Session, lake: string, published: Manifest | undefined): Promise<void> {
  const files = published?.tables ?? noFiles;
  const whole: readonly Keyed[] = ["builds", "dealers", "tokens", "options"];
  for (const table of whole) await session.keep(`lake_${table}`, rowsOfFiles(table, files[table], lake));
  const ofLastDay = { lake_active: "snapshots", lake_missing: "missing", lake_claims: "claims" } as const;
  for (const [view, table] of Object.entries(ofLastDay)) {
    await session.show(view, rowsOfFiles(table, filesIn(files, table, published?.as_of ?? ""), lake));
  }
}

/** What a day adds to each table: the partition's value where the table has one, and the rows. */
function additions(day: string): readonly (readonly [TableName, string | null, Sql])[] {
  const owned = sql`SELECT dealer_id, count(*)::INTEGER AS vins, (count(*) FILTER (is_owner))::INTEGER AS owned FROM claims_today
    WHERE sighted_on = ${day}::DATE GROUP BY dealer_id`;
  return [
    ["snapshots", day, withTrim("next_active")],
    ["missing", day, withTrim("next_missing")],
    ["ended", day.slice(0, 7), withTrim("newly_ended")],
    ["builds", null, sql`FROM new_builds`],
    ["dealers", null, sql`FROM new_dealers`],
    ["tokens", null, sql`FROM new_tokens`],
    ["options", null, sql`FROM new_options`],
    ["claims", day, sql`FROM claims_today`],
    [
      "deliveries",
      day,
      sql`SELECT delivered.*, coalesce(vins, 0) AS vins, coalesce(owned, 0) AS owned
          FROM delivered LEFT JOIN (${owned}) AS claimed USING (dealer_id)`,
    ],
    ["rejects", day, sql`FROM issues`],
  ];
}

async function writeTables(writer: Writer, manifest: Manifest): Promise<Files> {
  const files: Record<TableName, readonly LakeFile[]> = { ...manifest.tables };
  for (const [table, partition, rows] of additions(manifest.as_of)) {
    const file = await writeFile(writer, manifest.version, table, partition, rows);
    if (file !== undefined) files[table] = [...files[table], file];
  }
  return files;
}

async function accountOf(session: Session): Promise<Omit<Account, "day" | "version" | "rows" | "remarks">> {
  const isInventory = sql`feed = 'inventory'`;
  const issues: Row | undefined = await session.row(sql`
    SELECT (count(*) FILTER (outcome = 'unknown'))::INTEGER AS "unknown", (count(*) FILTER (outcome = 'noted'))::INTEGER AS noted,
           (count(DISTINCT (file, "row")) FILTER (outcome = 'rejected' AND ${isInventory}))::INTEGER AS rejected,
           (count(DISTINCT (file, "row")) FILTER (outcome = 'merged' AND ${isInventory}))::INTEGER AS merged
    FROM issues`);
  return {
    listed: await count(session, sql`FROM vehicles`),
    elsewhere: (await count(session, sql`FROM parsed_inventory`)) - (await count(session, sql`FROM vehicles`)),
    merged: integerIn(issues, "merged"),
    rejected: integerIn(issues, "rejected"),
    unknown: integerIn(issues, "unknown"),
    noted: integerIn(issues, "noted"),
    active: await count(session, sql`FROM next_active`),
    reasons: await reasonsOf(session),
  };
}

async function reasonsOf(session: Session): Promise<readonly Reason[]> {
  const rows = await session.rows(sql`
    SELECT outcome, feed || '.' || field AS field, reason, count(*)::INTEGER AS n FROM issues GROUP BY ALL ORDER BY ALL`);
  return rows.map((row) => ({
    outcome: textIn(row, "outcome"),
    field: textIn(row, "field"),
    reason: textIn(row, "reason"),
    count: integerIn(row, "n"),
  }));
}

async function count(session: Session, from: Sql): Promise<number> {
  return integerIn(await session.row(sql`SELECT count(*)::INTEGER AS ${name("n")} ${from}`), "n");
}

/**
 * One day, from its feeds to its files.
 *
 * Reading, judging, attributing and writing are set-based SQL over temporary tables; each step's module says which tables it
 * makes. Nothing here publishes.
 */
import { integerIn } from "../base/json.ts";
import type { Session } from "../db/duckdb.ts";
import { sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import { type DimensionTable, type Manifest, noFiles } from "../lake/manifest.ts";
import { filesIn } from "../lake/views.ts";
import type { Writer } from "../lake/writer/writer.ts";
import { writeDayFiles } from "./day-files.ts";
import { createDeliveryReport, type DeliveryReport } from "./delivery-report.ts";
import { assignDealerKeys, normalizeDealers } from "./dimensions/dealers.ts";
import { assignBuildKeys, assignOptionKeys, assignTokenKeys, maxKeys } from "./dimensions/dimension-keys.ts";
import type { Delivery } from "./feed/delivery.ts";
import type { Mapping } from "./feed/mapping.ts";
import { readDelivery } from "./feed/read-files.ts";
import { attributeClaims } from "./lifecycle/attribution.ts";
import { createDeliveredListingsView } from "./lifecycle/delivered-listings.ts";
import { judgeDeliveries } from "./lifecycle/feed-verdicts.ts";
import { createAbsentTable, createNextListingViews, createYesterdayViews } from "./lifecycle/lifecycle.ts";
import { collectIssues, createParsedTables, parseRows } from "./normalize/parse.ts";
import { loadReferenceTables } from "./normalize/spellings.ts";
import { createSpellings } from "./normalize/vocabularies.ts";

const steps = [
  "reads the files",
  "normalises",
  "attributes each VIN to its owner",
  "decides what lives and what ends",
  "writes the files",
] as const;

type Step = (typeof steps)[number];

/** Told as each step of a day begins: its number, how many there are, and what it does. */
export type OnIngestStep = (day: string, step: number, steps: number, what: string) => void;

/** Writes the files of a day on top of the version before, and gives its manifest with what came of the delivery. */
export async function ingestDay(
  writer: Writer,
  before: Manifest | undefined,
  next: Manifest,
  delivery: Delivery,
  { mapping, onStep }: { readonly mapping?: Mapping; readonly onStep?: OnIngestStep },
): Promise<{ readonly manifest: Manifest; readonly account: DeliveryReport }> {
  const { lake, session } = writer;
  const { day } = delivery;
  const begin = (what: Step): void => onStep?.(day, 1 + steps.indexOf(what), steps.length, what);

  begin("reads the files");
  await showLake(session, lake, before);
  await createParsedTables(session, day);
  const remarks = await readDelivery(session, delivery, mapping, (table, read) => parseRows(session, table, read, day));
  const rows = integerIn(await session.row(sql`SELECT count(*)::INTEGER AS n FROM parsed_inventory`), "n");
  await collectIssues(session);

  begin("normalises");
  await loadReferenceTables(session);
  await normalizeDealers(session);
  const spellings = await createSpellings(session);
  await assignDealerKeys(session, spellings, next.keys.dealers);
  await assignBuildKeys(session, spellings, next.keys.builds);
  await assignTokenKeys(session, spellings, next.keys.tokens);
  await assignOptionKeys(session, spellings, next.keys.options);

  begin("attributes each VIN to its owner");
  await createYesterdayViews(session);
  await judgeDeliveries(session, day);
  await attributeClaims(session, spellings, day);

  begin("decides what lives and what ends");
  await createDeliveredListingsView(session, day);
  await createNextListingViews(session, day);
  await createAbsentTable(session, day);

  begin("writes the files");
  const files = await writeDayFiles(writer, next);

  const manifest = { ...next, keys: await maxKeys(session, next.keys), tables: files };
  const active = filesIn(files, "snapshots", day).reduce((sum, file) => sum + file.rows, 0);
  return {
    manifest,
    account: await createDeliveryReport(session, { day, version: next.version, rows, active, remarks }),
  };
}

/** The version before as `lake_<table>`: dimensions whole, what belongs to a day as of the last one. */
async function showLake(session: Session, lake: string, before: Manifest | undefined): Promise<void> {
  const files = before?.tables ?? noFiles;
  const whole: readonly DimensionTable[] = ["builds", "dealers", "tokens", "options"];
  for (const table of whole) await session.createTempTable(`lake_${table}`, rowsOfFiles(table, files[table], lake));
  const ofLastDay = {
    lake_active: "snapshots",
    lake_missing: "missing",
    lake_contenders: "contenders",
    lake_claims: "claims",
    lake_deliveries: "deliveries",
  } as const;
  for (const [view, table] of Object.entries(ofLastDay)) {
    await session.createTempView(view, rowsOfFiles(table, filesIn(files, table, before?.as_of ?? ""), lake));
  }
}

/**
 * Ingests one day: reads its delivery, normalizes values, attributes VINs, updates listing states and writes the day's files.
 *
 * Each step is set-based SQL over temporary tables; the module of a step documents the tables that it creates. This module does not
 * publish.
 */
import { join as joinPath } from "node:path";
import type { Session } from "../db/duckdb.ts";
import { ident, type Sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/derived-relations.ts";
import { defaultCurrency, firstKeys, type Manifest, noFiles } from "../lake/manifest.ts";
import {
  activeOn,
  contendersIn,
  filesIn,
  type Inventory,
  missingIn,
  rowsOfDay,
  unorderedListings,
} from "../lake/market.ts";
import { openPartition } from "../lake/tables.ts";
import type { Writer } from "../lake/writer/writer.ts";
import { writeDayFiles } from "./day-files.ts";
import { createDeliveryReport, type DeliveryReport, recordBadRows } from "./delivery-report.ts";
import {
  assignBuildKeys,
  assignDealerKeys,
  assignOptionKeys,
  assignTokenKeys,
  createRawBuildsAndLists,
  loadDimensions,
  maxKeys,
  normalizeDealers,
} from "./dimensions/dimension-keys.ts";
import type { Delivery } from "./feed/delivery.ts";
import type { ReadSettings } from "./feed/file-formats.ts";
import { readDelivery } from "./feed/read-files.ts";
import { attributeClaims, mergeDuplicateRows } from "./lifecycle/attribution.ts";
import { createDeliveredListingsView } from "./lifecycle/delivered-listings.ts";
import { type FeedJudgement, judgeFeeds } from "./lifecycle/feed-verdicts.ts";
import { createAbsentTable, createYesterdayViews } from "./lifecycle/lifecycle.ts";
import { FeedParser, type ParsedDay } from "./normalize/parse.ts";
import { fillFromVins } from "./normalize/vin-filling.ts";
import { createSpellings, loadReferenceTables, type Spellings } from "./normalize/vocabularies.ts";

const steps = [
  "reading files",
  "normalizing values",
  "attributing VINs to owners",
  "updating listing states",
  "writing files",
] as const;

type IngestStep = (typeof steps)[number];

/** Progress callback, called when a step of a day begins: `step` counts from 1 to `steps`. */
export type OnIngestStep = (day: string, step: number, steps: number, description: string) => void;

/** The day to ingest and the versions before and after it. */
export interface DayInput {
  /** The version to build on; undefined for the first day of a lake. */
  readonly previous: Manifest | undefined;
  /** The manifest of the new version, still with the files of the previous one. */
  readonly next: Manifest;
  readonly delivery: Delivery;
}

export interface DaySettings extends ReadSettings {
  readonly judgement: FeedJudgement;
  readonly onStep?: OnIngestStep;
}

/**
 * Writes the files of a day. Requires the reference tables and the previous version's dimensions (`beginDays`), to which it adds those of the
 * day. Returns the manifest with these files, and the delivery report. Throws a
 * UserError if a file is invalid.
 */
export async function ingestDay(
  writer: Writer,
  { previous, next, delivery }: DayInput,
  { onStep, judgement, ...settings }: DaySettings,
): Promise<{ readonly manifest: Manifest; readonly report: DeliveryReport }> {
  const { lake, session } = writer;
  const { day } = delivery;
  const begin = (step: IngestStep): void => onStep?.(day, 1 + steps.indexOf(step), steps.length, step);

  begin("reading files");
  const kept = await session.tempTables();
  await createPreviousViews(session, lake, previous);
  const readSettings = { scratch: joinPath(lake, "spill"), ...settings };
  const { rows, remarks } = await readDay(
    session,
    { delivery, isFirst: previous === undefined, currency: next.currency },
    readSettings,
  );

  begin("normalizing values");
  const filled = await fillFromVins(session, day);
  const spellings = await normalizeDay(session, next);

  begin("attributing VINs to owners");
  await createYesterdayViews(session);
  await mergeDuplicateRows(session);
  await judgeFeeds(session, day, judgement);
  await attributeClaims(session, spellings, day);

  begin("updating listing states");
  await createDeliveredListingsView(session, spellings, day);
  await createAbsentTable(session, day);

  begin("writing files");
  const files = await writeDayFiles(writer, next);

  const active = files.listings.reduce((sum, file) => sum + file.rows, 0);
  const days = { ...next.days, [day]: active };
  const manifest = { ...next, keys: await maxKeys(session, next.keys), tables: files, days };
  const report = await createDeliveryReport(session, { day, version: next.version, rows, filled, active, remarks });
  // Values and serving files need the memory of the day's tables.
  await session.drop(...(await session.tempTables()).filter((table) => !kept.includes(table)));
  return { manifest, report };
}

/** Reads and checks the rows of a delivery. Returns the number of inventory rows, and the remarks of the report. */
async function readDay(
  session: Session,
  { delivery, ...context }: { readonly delivery: Delivery } & Omit<ParsedDay, "day">,
  settings: ReadSettings,
): Promise<Pick<DeliveryReport, "rows" | "remarks">> {
  const parser = await FeedParser.begin(session, { day: delivery.day, ...context });
  let badRows = 0;
  const remarks = await readDelivery(session, delivery, settings, (table, read) => parser.parse(table, read), {
    async onBadRows(file, rows) {
      if (file.table === "inventory") badRows += rows.length;
      await recordBadRows(session, file, rows);
    },
    onRefused: (file) => parser.discard(file),
  });
  return { rows: (await parser.finish()) + badRows, remarks };
}

/** Reads, checks and normalizes the rows of a delivery as those of the first day of a lake, without writing one. */
export async function tryDay(session: Session, delivery: Delivery, settings: ReadSettings) {
  await beginDays({ session, lake: "" }, undefined);
  await createPreviousViews(session, "", undefined);
  const { currency = defaultCurrency } = settings;
  const read = await readDay(session, { delivery, isFirst: true, currency }, settings);
  return { ...read, spellings: await normalizeDay(session, { keys: firstKeys }) };
}

/** Loads the reference tables and the dimensions of the version to build on, once for a run of days. */
export async function beginDays(
  { session, lake }: Pick<Writer, "session" | "lake">,
  previous: Manifest | undefined,
): Promise<void> {
  await loadReferenceTables(session);
  await loadDimensions(session, lake, previous?.tables ?? noFiles);
}

async function normalizeDay(session: Session, next: Pick<Manifest, "keys">): Promise<Spellings> {
  await normalizeDealers(session);
  await createRawBuildsAndLists(session);
  const spellings = await createSpellings(session);
  await assignDealerKeys(session, spellings, next.keys.dealers);
  await assignBuildKeys(session, next.keys.builds);
  await assignTokenKeys(session, next.keys.tokens);
  await assignOptionKeys(session, spellings, next.keys.options);
  return spellings;
}

/**
 * Creates views of the previous version: the listings of its day as `lake_active`, `lake_missing` and
 * `lake_contenders`, the first and the last with their claims; what its dealers had delivered as `lake_feeds`; and the rows of the files
 * that hold as `held_listings` and `held_contenders`.
 */
async function createPreviousViews(session: Session, lake: string, previous: Manifest | undefined): Promise<void> {
  const version = previous ?? { tables: noFiles, days: {}, as_of: "" };
  const { tables, as_of } = version;
  const claim = ["claimed_since", "file", "row"].map((column) => ident(column));
  const listings = (inventory: Inventory, extra: readonly Sql[] = []): Sql =>
    unorderedListings(inventory, { folder: lake, hasFeeds: true }, extra);
  const views = {
    lake_active: listings({ ...activeOn(version, as_of), valuations: [] }, claim),
    lake_missing: listings(missingIn(version)),
    lake_contenders: listings(contendersIn(version), claim),
    lake_feeds: previous === undefined ? rowsOfFiles("feeds", [], lake) : rowsOfDay("feeds", tables.feeds, lake, as_of),
    held_listings: rowsOfFiles("listings", tables.listings, lake),
    held_contenders: rowsOfFiles("contenders", filesIn(tables.contenders, openPartition), lake),
  };
  for (const [view, query] of Object.entries(views)) await session.createTempView(view, query);
}

/**
 * The steps of an export: name it and count its rows, hold its price, write its file to the spool.
 *
 * An account is charged once in 24 hours for an export of one entity tag: for the first response, whole or a part. The tag is the
 * idempotency key of the charge.
 */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { Logger } from "pino";
import type { Accounts, Hold } from "../../accounts/accounts.ts";
import { exportUnits, usageClassOf } from "../../accounts/policy/prices.ts";
import { projectText } from "../../base/project-files.ts";
import { decoderOf } from "../../contract/decode.ts";
import { document } from "../../contract/document.ts";
import { engineVersion } from "../../db/duckdb.ts";
import type { Job } from "../../db/job.ts";
import { countRows, type ExportQuery, partsOf } from "../../export/parts.ts";
import { encodeExport } from "../../export/small-export.ts";
import type { TableEncoder } from "../../formats/table-encoder.ts";
import type { TableFormat } from "../../formats/table-formats.ts";
import type { Admission } from "../../operations/admission.ts";
import { charge, type Usage } from "../../operations/answer.ts";
import type { Caller } from "../../operations/caller.ts";
import { entityTag, strongEntityTag } from "../../operations/representation.ts";
import { keyTextOf } from "../../operations/response-cache.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { Spool, SpooledExport } from "./spool.ts";
import { type FileSize, runExport } from "./writer-process.ts";

export interface ExportServices {
  readonly lake: string;
  readonly current: CurrentVersion;
  readonly accounts: Accounts;
  readonly spool: Spool;
  readonly memory: string;
  /** Encodes small exports. */
  readonly encoder: TableEncoder;
  /** An export of up to this many rows is written by the service itself: a process takes more than a second to start. */
  readonly quickRowsMax: number;
  /** How long an export may take to be written, and then to be sent. */
  readonly deadlineMs: number;
  /** How long a file is kept once it is written. */
  readonly ageMs: number;
}

/** Distinguishes releases whose exports of the same request can differ in a byte. */
const releaseTag = entityTag(`${projectText("package.json")} ${JSON.stringify(document)} ${engineVersion}`);

export interface NamedExport {
  readonly query: ExportQuery;
  readonly tag: string;
  readonly version: string;
  readonly asOf: string;
  readonly format: TableFormat;
  readonly total: number;
}

/** A valid request for an export in a format. */
export interface ExportRequest extends Omit<ExportQuery, "format"> {
  readonly format: TableFormat;
}

export interface ExportCall {
  readonly caller: Caller;
  readonly queryString: string;
  readonly log: Logger;
  readonly job: Job;
}

/** An export of a caller that is no response. */
export type ExportOrder = Omit<ExportCall, "job">;

/** What an export costs its caller: nothing if it has been charged already. */
export interface ExportPrice {
  readonly rows: number;
  readonly micros: number;
}

/** Returns the rows and the price of an export. Refuses one that the account cannot pay for. */
export const priceExport = (services: ExportServices, admission: Admission, order: ExportOrder): Promise<ExportPrice> =>
  runOrder(services, admission, order, async ({ total: rows }, { micros }) => ({ rows, micros }));

/** Writes an export to the spool, for a later response, and charges for it. */
export const spoolExport = (
  services: ExportServices,
  admission: Admission,
  order: ExportOrder,
): Promise<FileSize & Usage> =>
  runOrder(services, admission, order, async (named, hold, call) => {
    const { rows, bytes, release } = await openExport(services, call, named);
    release();
    return { rows, bytes, ...(await charge(services.accounts, call.caller, hold)) };
  });

function runOrder<T>(
  services: ExportServices,
  admission: Admission,
  order: ExportOrder,
  work: (named: NamedExport, hold: Hold, call: ExportCall) => Promise<T>,
): Promise<T> {
  const { caller, queryString } = order;
  return admission.run(caller, "exportListings", async (job) => {
    const { query } = decoderOf("exportListings")(queryString, {});
    const named = await job.race(nameExport({ format: defaultFormat, ...query }, services, job));
    if (named === undefined) throw new TypeError("No export: expected one for a caller without a known tag.");
    const hold = await holdExport(services, caller, query, named);
    try {
      return await work(named, hold, { ...order, job });
    } finally {
      hold.release();
    }
  });
}

/** The format of an export without `format`, as in a response. */
const defaultFormat = "parquet";

/** Returns what identifies an export, and its number of rows; undefined if the client has the version's answer already. */
export function nameExport(
  { format, ...request }: ExportRequest,
  { current }: ExportServices,
  job: Job,
  isKnown: (tag: string, version: string) => boolean = () => false,
): Promise<NamedExport | undefined> {
  return current.use(async (open) => {
    const parts = partsOf(request, open.withJob(job));
    const { as_of: asOf, version } = open.manifest;
    const key = keyTextOf(version, "exportListings", request);
    const tag = strongEntityTag(`${releaseTag} ${format} ${key}`);
    if (isKnown(tag, version)) return undefined;
    return { query: request, tag, version, asOf, format, total: await countRows(parts) };
  });
}

/** Returns the file of an export, to be released. Throws if its number of rows differs from the counted and charged one. */
export async function openExport(
  services: ExportServices,
  { queryString, job }: Pick<ExportCall, "queryString" | "job">,
  named: NamedExport,
): Promise<SpooledExport> {
  const { tag, version, format, total } = named;
  const { lake, memory } = services;
  const isQuick = total <= services.quickRowsMax;
  const file = await services.spool.open({ key: tag, job, isQuick }, async (path, shared) => {
    const written = isQuick ? await writeHere(services, named, path, shared) : undefined;
    return written ?? runExport({ lake, memory, version, queryString, format, path }, shared.signal);
  });
  if (file.rows === total) return file;
  file.release();
  throw new Error(`Export of ${file.rows} rows: expected the ${total} counted rows.`);
}

/** Writes a small export from the version in service; returns undefined if that is another one by now, or the export has several days. */
const writeHere = (
  { current, encoder, quickRowsMax }: ExportServices,
  { query, version, format }: NamedExport,
  path: string,
  job: Job,
): Promise<FileSize | undefined> =>
  current.use(async (open) => {
    if (open.manifest.version !== version) return undefined;
    const encoded = await encodeExport(query, open.withJob(job), quickRowsMax, { encoder, format, job });
    if (encoded === undefined) return undefined;
    const { content, rows } = encoded;
    await writeFile(path, content);
    return { rows, bytes: content.length };
  });

/** Holds the price of an export; nothing if the account has been charged for it. A client's own idempotency keys have no spaces. */
export function holdExport(
  { accounts }: ExportServices,
  { identity }: Caller,
  query: ExportQuery,
  { tag, total }: NamedExport,
): Promise<Hold> {
  const sha256 = createHash("sha256").update(tag).digest("hex");
  const usageClass = usageClassOf("exportListings", query);
  return accounts.holdOnce(identity, usageClass, { idempotencyKey: `export ${tag}`, sha256 }, exportUnits(total));
}

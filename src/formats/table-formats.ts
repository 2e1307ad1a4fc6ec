/** The formats of answers and exports: their media types, the extensions of their files, and their encoders. */
import type { Table } from "../contract/tables.ts";
import type { QueryOf } from "../contract/types.ts";
import { ParquetWriter } from "./parquet.ts";

export type FormatName = NonNullable<QueryOf<"searchListings">["format"]>;

export type TableFormat = Exclude<FormatName, "json">;

interface FormatRow {
  /** As `Accept` names it. */
  readonly mediaType: string;
  /** Parameters of the media type in `Content-Type`. */
  readonly parameters?: string;
  /** Of its files, the usual one first. */
  readonly extensions: readonly [usual: string, ...others: string[]];
}

export const answerFormats: Readonly<Record<FormatName, FormatRow>> = {
  json: { mediaType: "application/json", parameters: "charset=utf-8", extensions: ["json"] },
  arrow: { mediaType: "application/vnd.apache.arrow.stream", extensions: ["arrows", "arrow"] },
  parquet: { mediaType: "application/vnd.apache.parquet", extensions: ["parquet"] },
  csv: { mediaType: "text/csv", parameters: "charset=utf-8; header=present", extensions: ["csv"] },
  ndjson: { mediaType: "application/x-ndjson", extensions: ["ndjson", "jsonl"] },
};

/** The formats of pages, in the order in which they are preferred if a client accepts several of them equally. */
export const pageFormats = ["json", "arrow", "parquet", "csv", "ndjson"] as const satisfies readonly FormatName[];

/** The formats of exports, in the same order. */
export const exportFormats = ["parquet", "arrow", "csv", "ndjson"] as const satisfies readonly TableFormat[];

/** The formats of files that `carquet export` writes. JSON is an array of the rows. */
export const fileFormats = [...exportFormats, "json"] as const satisfies readonly FormatName[];

/** Encodes tables. Modules of large libraries load with the first table that needs them. */
export class TableEncoder {
  private readonly parquet = new ParquetWriter();

  private readonly encoders: Readonly<
    Record<TableFormat, (table: Table, isRaw: boolean) => Promise<string | Uint8Array>>
  > = {
    arrow: async (table) => (await import("./arrow.ts")).encodeArrow(table),
    parquet: (table) => this.parquet.encode(table),
    csv: async (table, isRaw) => (await import("./csv.ts")).encodeCsv(table, isRaw),
    ndjson: async ({ rows }) => rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  };

  /** Returns the bytes of a table in a format. `isRaw` leaves formulas in the texts of CSV. */
  async encode(format: TableFormat, table: Table, isRaw = false): Promise<Buffer> {
    const encoded = await this.encoders[format](table, isRaw);
    return typeof encoded === "string"
      ? Buffer.from(encoded)
      : Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  }

  close(): Promise<void> {
    return this.parquet.close();
  }
}

/** The formats of answers: their media types, the extensions of their files, and their encoders. */
import type { QueryOf } from "../contract/types.ts";
import { ParquetWriter } from "./parquet.ts";
import type { Table } from "./table.ts";

/** The values of parameter `format`. */
export type FormatName = NonNullable<QueryOf<"searchListings">["format"]>;

/** The formats that hold tables. */
export type TableFormat = Exclude<FormatName, "json">;

interface FormatRow {
  /** As `Accept` names it. */
  readonly mediaType: string;
  /** Parameters of the media type in `Content-Type`. */
  readonly parameters?: string;
  readonly extension: string;
}

/** In the order in which they are preferred if a client accepts several of them equally. */
export const answerFormats: Readonly<Record<FormatName, FormatRow>> = {
  json: { mediaType: "application/json", parameters: "charset=utf-8", extension: "json" },
  arrow: { mediaType: "application/vnd.apache.arrow.stream", extension: "arrows" },
  parquet: { mediaType: "application/vnd.apache.parquet", extension: "parquet" },
  csv: { mediaType: "text/csv", parameters: "charset=utf-8; header=present", extension: "csv" },
  ndjson: { mediaType: "application/x-ndjson", extension: "ndjson" },
};

/** Encodes tables. Modules of large libraries load with the first table that needs them. */
export class TableEncoder {
  private readonly parquet = new ParquetWriter();

  private readonly encoders: Readonly<Record<TableFormat, (table: Table) => Promise<string | Uint8Array>>> = {
    arrow: async (table) => (await import("./arrow.ts")).encodeArrow(table),
    parquet: (table) => this.parquet.encode(table),
    csv: async (table) => (await import("./csv.ts")).encodeCsv(table),
    ndjson: async ({ rows }) => rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  };

  /** Returns the bytes of a table in a format. */
  async encode(format: TableFormat, table: Table): Promise<Buffer> {
    const encoded = await this.encoders[format](table);
    return typeof encoded === "string"
      ? Buffer.from(encoded)
      : Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  }

  close(): Promise<void> {
    return this.parquet.close();
  }
}

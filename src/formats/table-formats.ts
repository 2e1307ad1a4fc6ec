/** The formats of answers and files: their media types and the extensions of their files. */
import { extname } from "node:path";
import { UserError } from "../base/user-error.ts";
import type { QueryOf } from "../contract/types.ts";

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

/** Returns the format of a file by the extension of its name; `otherwise` without one. Throws a UserError if it is unknown. */
export function formatOfFile<Format extends FormatName | "table">(
  path: string,
  formats: readonly Format[],
  otherwise: Format,
): Format {
  const extension = extname(path).toLowerCase();
  if (extension === "") return otherwise;
  const extensionsOf = (format: FormatName | "table"): readonly string[] =>
    (format === "table" ? ["txt"] : answerFormats[format].extensions).map((one) => `.${one}`);
  const format = formats.find((one) => extensionsOf(one).includes(extension));
  if (format !== undefined) return format;
  const known = formats.flatMap(extensionsOf).join(", ");
  throw new UserError(`Unknown extension ${extension} of --output ${path}: expected ${known}, or --format.`);
}

/** Formats the result of a statement as a stream of text or bytes. */
import { createReadStream } from "node:fs";
import { extname } from "node:path";
import type { Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { escapeFormula } from "../../formats/csv.ts";
import { answerFormats } from "../../formats/table-formats.ts";
import type { AnalystDatabase, StatementResult } from "../../lake/analyst/analyst-database.ts";
import { type EngineFormat, readLines, replaceNonFinite } from "../../lake/analyst/spool.ts";
import {
  cellsOf,
  columnWidths,
  formatCsv,
  formatJsonLines,
  formatRowCount,
  formatTableHead,
  formatTableLines,
} from "../print.ts";

/**
 * `json` prints a line for each row, with BIGINT, HUGEINT and DECIMAL as strings, which every reader of JSON reads exactly; `ndjson` prints
 * them as numbers.
 */
export const resultFormats = ["table", "csv", "json", "ndjson", "parquet", "arrow"] as const;

export type ResultFormat = (typeof resultFormats)[number];

export const textFormats = ["table", "csv", "json", "ndjson"] as const;

const extensionsOf = (format: ResultFormat): readonly string[] =>
  format === "table" ? ["txt"] : answerFormats[format].extensions;

/** Returns the format that a file's extension names; `otherwise` without an extension. Throws a UserError if it is unknown. */
export function formatOfFile(path: string, otherwise: ResultFormat): ResultFormat {
  const extension = extname(path).toLowerCase();
  if (extension === "") return otherwise;
  const format = resultFormats.find((name) => extensionsOf(name).includes(extension.slice(1)));
  if (format !== undefined) return format;
  const known = resultFormats.flatMap(extensionsOf).map((one) => `.${one}`);
  throw new UserError(`Unknown extension ${extension} of ${path}: expected ${known.join(", ")}, or --format.`);
}

type ResultContent = AsyncGenerator<string | Uint8Array>;

export interface FormattedResult {
  readonly rowCount: number;
  readonly content: ResultContent;
}

/**
 * Runs a statement and returns its result in a format; undefined if it has none. With `escapesFormulas`, CSV is safe to open in a spreadsheet. Throws
 * a UserError if it fails.
 */
export async function runFormatted(
  database: AnalystDatabase,
  statement: string,
  format: ResultFormat,
  escapesFormulas = false,
): Promise<FormattedResult | undefined> {
  if (format === "parquet" || format === "ndjson") {
    const copied = await database.copy(statement, format);
    return copied && { rowCount: copied.rowCount, content: engineContentOf[format](copied.path) };
  }
  const result = await database.execute(statement);
  if (result === undefined) return undefined;
  const { rowCount } = result;
  if (format === "arrow") return { rowCount, content: (await import("./arrow.ts")).arrowStream(result) };
  return { rowCount, content: contentOf[format](escapesFormulas ? withEscapedTexts(result) : result) };
}

/** Returns a result whose texts no spreadsheet takes for formulas. */
function withEscapedTexts({ columns, types, batches, ...result }: StatementResult): StatementResult {
  const texts = columns.filter((_, index) => types[index] === "VARCHAR");
  const escaped = (row: Row): Row => ({
    ...row,
    ...Object.fromEntries(
      texts.flatMap((name) => (typeof row[name] === "string" ? [[name, escapeFormula(row[name])]] : [])),
    ),
  });
  return {
    ...{ ...result, columns: columns.map(escapeFormula), types },
    batches: async function* () {
      for await (const rows of batches())
        yield rows
          .map(escaped)
          .map((row) => Object.fromEntries(columns.map((name) => [escapeFormula(name), row[name] ?? null])));
    },
  };
}

/** Formats a result as text, as `formatRows` does, in constant memory. */
const contentOf: Readonly<Record<"table" | "csv" | "json", (result: StatementResult) => ResultContent>> = {
  async *table({ columns, rowCount, batches }) {
    let widths = columnWidths([columns], []);
    for await (const rows of batches()) widths = columnWidths(cellsOf(rows, columns), widths);
    yield formatTableHead(columns, widths);
    for await (const rows of batches()) yield formatTableLines(cellsOf(rows, columns), widths);
    yield formatRowCount(rowCount);
  },
  async *csv({ columns, batches }) {
    yield formatCsv([columns]);
    for await (const rows of batches()) yield formatCsv(cellsOf(rows, columns));
  },
  async *json({ batches }) {
    for await (const rows of batches()) yield formatJsonLines(rows);
  },
};

/** The content of a file that the engine wrote. JSON has no NaN and no infinity; they become null. */
const engineContentOf: Readonly<Record<EngineFormat, (path: string) => ResultContent>> = {
  async *parquet(path) {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 });
    yield* chunks;
  },
  async *ndjson(path) {
    for await (const lines of readLines(path))
      yield lines.map((line) => `${replaceNonFinite(line, () => "null")}\n`).join("");
  },
};

/** Throws a UserError for a format of bytes where a terminal would print it. */
export function checkPrintable(format: ResultFormat, isTerminal: boolean): void {
  if (isTerminal && !textFormats.some((text) => text === format))
    throw new UserError(
      `Invalid format ${format} for a terminal: expected --output, a pipe, or one of ${textFormats.join(", ")}.`,
    );
}

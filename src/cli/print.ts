/** Formats rows as an aligned table, CSV or JSON lines. */
import { stringify } from "csv-stringify/sync";
import type { Json, Row } from "../base/json.ts";
import type { QueryResult } from "../db/duckdb.ts";

type Format = "table" | "csv" | "json";

/** Formats rows; every line ends with a newline. */
export function formatRows({ columns, rows }: QueryResult, format: Format): string {
  if (format === "json") return formatJsonLines(rows);
  const cells = [columns, ...cellsOf(rows, columns)];
  if (format === "csv") return formatCsv(cells);
  const widths = columnWidths(cells, []);
  const [head = [], ...body] = cells;
  return `${formatTableHead(head, widths)}${formatTableLines(body, widths)}${formatRowCount(rows.length)}`;
}

export const formatJsonLines = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

export const formatCsv = (cells: readonly (readonly string[])[]): string =>
  stringify([...cells], { quoted_match: /\r/ });

/** Returns the cells of rows as text. Null is empty. */
export const cellsOf = (rows: readonly Row[], columns: readonly string[]): readonly (readonly string[])[] =>
  rows.map((row) => columns.map((column) => formatCell(row[column] ?? null)));

/** Returns the greatest width of each column, in lines of cells and in `widths`. */
export function columnWidths(cells: readonly (readonly string[])[], widths: readonly number[]): readonly number[] {
  return cells.reduce<readonly number[]>(
    (known, line) => line.map((cell, index) => Math.max(cell.length, known[index] ?? 0)),
    widths,
  );
}

/** Formats the head of a table: the names of its columns, and a rule. */
export const formatTableHead = (columns: readonly string[], widths: readonly number[]): string =>
  `${formatTableLines([columns], widths)}${widths.map((width) => "-".repeat(width)).join("  ")}\n`;

export const formatTableLines = (cells: readonly (readonly string[])[], widths: readonly number[]): string =>
  cells
    .map(
      (line) =>
        `${line
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");

export const formatRowCount = (rows: number): string => `(${rows} ${rows === 1 ? "row" : "rows"})\n`;

function formatCell(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

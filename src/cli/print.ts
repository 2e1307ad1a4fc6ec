/** What commands print: rows as an aligned table or JSON lines, and progress on standard error, as a bar on a terminal, as lines elsewhere. */
import { Presets, SingleBar } from "cli-progress";
import type { Json, Row } from "../base/json.ts";
import type { QueryResult } from "../db/duckdb.ts";

/** Formats rows; every line ends with a newline. */
export function formatRows({ columns, rows }: QueryResult, format: "table" | "json"): string {
  if (format === "json") return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const cells = cellsOf(rows, columns);
  const widths = columnWidths([columns, ...cells], []);
  return `${formatTableHead(columns, widths)}${formatTableLines(cells, widths)}${formatRowCount(rows.length)}`;
}

/** Prints the result of a command: a line of JSON, or lines of text. */
export function printResult(result: object | null, text: string | readonly string[], isJson: boolean): void {
  for (const line of isJson ? [JSON.stringify(result)] : [text].flat()) process.stdout.write(`${line}\n`);
}

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

export interface Progress {
  /** Shows that step number `step` of `steps` has started. A new title starts a new bar. */
  step(title: string, step: number, steps: number, description: string): void;
  end(): void;
}

/** Shows progress; `onLine` gets it where standard error is not a terminal. */
export const createProgress = (onLine?: Progress["step"]): Progress =>
  process.stderr.isTTY ? progressBar() : { step: onLine ?? writeLine, end: () => undefined };

function progressBar(): Progress {
  const bar = new SingleBar(
    { format: "{title} {bar} {value}/{total} {description}", stream: process.stderr, clearOnComplete: false },
    Presets.shades_classic,
  );
  let current = "";
  return {
    step(title, step, steps, description) {
      if (title !== current) {
        if (current !== "") bar.stop();
        bar.start(steps, step, { title, description });
        current = title;
      }
      bar.update(step, { title, description });
    },
    end() {
      if (current !== "") bar.stop();
    },
  };
}

const writeLine: Progress["step"] = (title, step, steps, description) =>
  void process.stderr.write(`${title}: ${step}/${steps} ${description}\n`);

/** Formats rows as a table that fits a terminal: null is visible, wide columns are cut, columns that do not fit are left out. */
import type { Row } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import { cellsOf, columnWidths, formatTableHead, formatTableLines } from "../print.ts";

const columnWidthMin = 8;

const gap = "  ".length;

export interface TerminalTable {
  readonly text: string;
  /** The number of columns that fit; the others are left out. */
  readonly columns: number;
}

export function formatTerminalTable(columns: readonly string[], rows: readonly Row[], width: number): TerminalTable {
  const cells = cellsOf(rows, columns).map((line, row) =>
    line.map((cell, index) => ((rows[row]?.[columns[index] ?? ""] ?? null) === null ? "NULL" : printableCell(cell))),
  );
  const names = columns.map((name) => printableCell(name));
  const widths = cutWidths(columnWidths([names, ...cells], []), width);
  const cut = (line: readonly string[]): readonly string[] =>
    widths.map((max, index) => cutText(line[index] ?? "", max));
  const shownWidths = columnWidths([cut(names), ...cells.map(cut)], []);
  return {
    text: `${formatTableHead(cut(names), shownWidths)}${formatTableLines(cells.map(cut), shownWidths)}`,
    columns: widths.length,
  };
}

/** Returns the widths that columns are cut to, so that they fit; fewer than `widths` if even the least width does not. */
function cutWidths(widths: readonly number[], width: number): readonly number[] {
  const total = (max: number): number => widths.reduce((sum, column) => sum + Math.min(column, max) + gap, -gap);
  let max = Math.max(columnWidthMin, ...widths);
  while (max > columnWidthMin && total(max) > width) max -= 1;
  const cut = widths.map((column) => Math.min(column, max));
  let sum = -gap;
  const beyond = cut.findIndex((column) => {
    sum += column + gap;
    return sum > width;
  });
  return beyond === -1 ? cut : cut.slice(0, Math.max(1, beyond));
}

const cutText = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

/** Returns text without control characters, which a terminal would obey. No terminal is as wide as the most characters. */
const printableCell = (text: string): string => printable(text, 2000);

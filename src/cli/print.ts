/** Formats rows as an aligned table, CSV or JSON lines. */
import { stringify } from "csv-stringify/sync";
import type { Json } from "../base/json.ts";
import type { QueryResult } from "../lake/analyst-database.ts";

type Format = "table" | "csv" | "json";

/** Formats rows; every line ends with a newline. */
export function formatRows({ columns, rows }: QueryResult, format: Format): string {
  if (format === "json") return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const cells = [columns, ...rows.map((row) => columns.map((column) => formatCell(row[column] ?? null)))];
  if (format === "csv") return stringify(cells, { quoted_match: /\r/ });
  const widths = columns.map((_, index) => cells.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), 0));
  const lines = cells.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return `${[lines[0] ?? "", rule, ...lines.slice(1)].join("\n")}\n(${rows.length} ${rows.length === 1 ? "row" : "rows"})\n`;
}

function formatCell(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

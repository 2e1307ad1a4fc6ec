/** The tables of results, as plain text for the terminal and as Markdown. */
import { type PeerName, peerNames } from "../settings.ts";
import { type Measurement, type Results, ratioIn } from "./results.ts";

type Rows = readonly (readonly string[])[];

/** Formats a number with about three significant digits, with commas between thousands; a dash if it is unknown. */
export const formatNumber = (value: number | undefined): string => {
  if (value === undefined) return "-";
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(value >= 10 ? 1 : 2);
};

/** Whether the spread of a server's times is left out. */
const isReference = (server: string): boolean => isPeer(server) || server === "in process";

const isPeer = (server: string): server is PeerName => peerNames.some((name) => name === server);

interface TableColumn {
  readonly heading: string;
  readonly value: (name: string) => number | undefined;
}

/** Returns the tables of results: names whose first measurement has the same unit share one. Servers and their units are columns. */
export function tablesOf(results: Pick<Results, "measurements">): readonly Rows[] {
  const firstUnits = new Map<string, string>();
  const shown = results.measurements;
  for (const { name, unit } of shown) if (!firstUnits.has(name)) firstUnits.set(name, unit);
  return [...new Set(firstUnits.values())].map((first) =>
    tableOf(
      results,
      shown.filter(({ name }) => firstUnits.get(name) === first),
    ),
  );
}

function tableOf(results: Pick<Results, "measurements">, shown: readonly Measurement[]): Rows {
  const names = [...new Set(shown.map(({ name }) => name))];
  const servers = [...new Set(shown.map(({ server }) => server))];
  const columns = servers
    .flatMap((server) => columnsOf(results, server, shown))
    .map(({ heading, value }) => [heading, ...cellsOf(names.map(value))]);
  return ["", ...names].map((name, row) => [name, ...columns.map((column) => column[row] ?? "")]);
}

/** Formats the values of a column, without decimals if all are whole numbers. */
function cellsOf(values: readonly (number | undefined)[]): readonly string[] {
  const areWhole = values.every((value) => value === undefined || Number.isInteger(value));
  const format = (value: number): string => (areWhole ? value.toLocaleString("en") : formatNumber(value));
  return values.map((value) => (value === undefined ? "" : format(value)));
}

/** Returns a column for each unit of a server, one for the 99th percentile, and for peers one for the ratio. */
function columnsOf(
  results: Pick<Results, "measurements">,
  server: string,
  shown: readonly Measurement[],
): readonly TableColumn[] {
  const own = shown.filter((measurement) => measurement.server === server);
  const units = [...new Set(own.map(({ unit }) => unit))];
  const columns = units.flatMap((unit, index): readonly TableColumn[] => {
    const byName = new Map(own.filter((one) => one.unit === unit).map((one) => [one.name, one]));
    const hasSpread = !isReference(server) && [...byName.values()].some(({ p99 }) => p99 !== undefined);
    return [
      { heading: index === 0 ? `${server} ${unit}` : unit, value: (name) => byName.get(name)?.value },
      ...(hasSpread ? [{ heading: "p99", value: (name: string) => byName.get(name)?.p99 }] : []),
    ];
  });
  return isPeer(server) ? [...columns, { heading: "ratio", value: (name) => ratioIn(results, name, server) }] : columns;
}

/** Aligns the columns of a table: the first one to the left, all others to the right. */
export function alignTable(rows: Rows): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const pad = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd()).join("\n");
}

/** Returns a Markdown table whose first column is aligned to the left. */
export const markdownTable = ([head = [], ...rows]: Rows): string =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

/** Returns a sentence on the machine and the programs. */
const environmentNote = ({ machine, versions }: Results): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.system}. ${Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")}.`;

/** Returns the results as plain text. */
export const formatText = (results: Results): string =>
  [results.title, ...results.notes, ...tablesOf(results).map(alignTable)].join("\n\n");

/** Returns the results as a section of a Markdown page. */
export const formatSection = (results: Results, level: "##" | "###"): string =>
  [
    `${level} ${results.title}`,
    [...results.notes, environmentNote(results)].join(" "),
    ...tablesOf(results).map(markdownTable),
  ].join("\n\n");

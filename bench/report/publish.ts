/**
 * Publishes results (`npm run bench:publish`): reads all runs in `bench/results/*.json` and the measurements beside the suite in
 * `bench/results/separate/`, and writes plots, `bench/results/README.md`, and tables between markers: into `docs/performance.md` those of the
 * largest run with throughput and of the separate measurements, into `bench/README.md` the targets. Never type a measured number by hand.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";
import { casesTable, resultsSection, tableLegend, throughputTable } from "./markdown-report.ts";
import { type PlotLine, type PlotPanel, renderPlot } from "./plot.ts";
import { renderReplicas } from "./replicas-chart.ts";
import type { CaseResult, Results } from "./results.ts";
import { separateSections } from "./separate-report.ts";
import type { SeparateResults } from "./separate-results.ts";
import { targetsTable } from "./targets.ts";
import { peersOf } from "./text-report.ts";

const resultsFolder = projectPath("bench/results");

/** The cases of the plots, in their order. */
const plottedCases = [
  ...["search: default page", "search: make, model, price", "search: radius 50", "search: two features"],
  ...["facets: all 30", "facets: all 30, state", "search: snapshot", "details: VIN"],
];

/** Runs of more days measure the length of history, others the number of listings. */
const shortHistoryDaysMax = 30;

type PlotDimension = "listings" | "days";

const files = (await readdir(resultsFolder)).filter((name) => name.endsWith(".json")).sort();
const runs: readonly Results[] = await Promise.all(
  files.map(async (name) => JSON.parse(await readFile(join(resultsFolder, name), "utf8"))),
);
const sortedRuns = [...runs].sort((a, b) => a.dataset.listings - b.dataset.listings || a.dataset.days - b.dataset.days);
const runsBySize = sortedRuns.filter(
  ({ dataset }) => dataset.days <= shortHistoryDaysMax && dataset.options === "typical",
);
const runsByDays = sortedRuns.filter(({ dataset }) => dataset.days > shortHistoryDaysMax);

const separateFiles = await readdir(join(resultsFolder, "separate"));
const separate: readonly SeparateResults[] = await Promise.all(
  separateFiles.map(async (name) => JSON.parse(await readFile(join(resultsFolder, "separate", name), "utf8"))),
);

const plots: string[] = [];
await writePlot("cost-by-listings", runsBySize, "listings");
await writePlot("cost-by-days", runsByDays, "days");
await writeFile(
  join(resultsFolder, "README.md"),
  `${[introduction(), ...plots.map(plotImage), ...sortedRuns.map(resultsSection)].join("\n\n")}\n`,
);
const publishedRun = runsBySize.findLast(({ throughput }) => throughput.length > 0);
if (publishedRun !== undefined) await replacePart("docs/performance.md", "results", runParts(publishedRun));
await replacePart("bench/README.md", "targets", [
  targetsTable(runsBySize.filter(({ throughput }) => throughput.length > 0)),
]);
await writeReplicasChart();
await replacePart("docs/performance.md", "separate results", [
  ...separateSections(separate),
  "![processor time of a request by replicas, and charges a second](../bench/results/replicas.svg)",
]);

function plotImage(name: string): string {
  return `![median time of a case by ${name.replace("cost-by-", "")}](${name}.svg)`;
}

/** Writes `<name>.svg`, unless there are fewer than two runs to plot. */
async function writePlot(name: string, plottedRuns: readonly Results[], dimension: PlotDimension): Promise<void> {
  if (plottedRuns.length < 2) return;
  const panels = plottedCases.flatMap((title) => panelOf(title, plottedRuns, dimension));
  await writeFile(join(resultsFolder, `${name}.svg`), renderPlot(panels, dimension));
  plots.push(name);
}

/** Returns the panel of a case; empty if fewer than two runs have it. */
function panelOf(title: string, plottedRuns: readonly Results[], dimension: PlotDimension): readonly PlotPanel[] {
  const results = plottedRuns.flatMap(({ dataset, cases }) => {
    const result = cases.find((candidate) => candidate.case === title);
    return result === undefined ? [] : [{ x: dataset[dimension], result }];
  });
  if (results.length < 2) return [];
  const lineOf = (name: string, medianMs: (result: CaseResult) => number | undefined): PlotLine => ({
    name,
    points: results.flatMap(({ x, result }) => {
      const y = medianMs(result);
      return y === undefined ? [] : [{ x, y }];
    }),
  });
  const peers = [...new Set(plottedRuns.flatMap((run) => peersOf(run)))];
  const lines = [
    lineOf("carquet", ({ carquet }) => carquet.p50_ms),
    ...peers.map((name) => lineOf(name, (result) => result.peers[name]?.p50_ms)),
  ];
  return [{ title, lines: lines.filter(({ points }) => points.length > 1) }];
}

function introduction(): string {
  return `# Results

Medians in milliseconds, uncached. All servers of a run were measured in turn; in parentheses: peer time / Carquet time. Answers of peers
equal Carquet's, except for percentiles that are marked as approximate. \`npm run bench:publish\` writes this page from the JSON files
beside it.`;
}

/** Returns the tables of a run for `docs/performance.md`. */
function runParts(run: Results): readonly string[] {
  const { dataset, machine } = run;
  return [
    `${dataset.listings.toLocaleString("en")} listings, ${machine.cores} cores. ${tableLegend(run)}`,
    casesTable(run),
    ...(run.throughput.length === 0 ? [] : [throughputTable(run)]),
    ...(plots.includes("cost-by-listings")
      ? ["![median time of a case by listings](../bench/results/cost-by-listings.svg)"]
      : []),
  ];
}

/** Replaces the part of a page between the markers of a name. */
async function replacePart(file: string, name: string, parts: readonly string[]): Promise<void> {
  const path = projectPath(file);
  const page = await readFile(path, "utf8");
  const [startMarker, endMarker] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [start, end] = [page.indexOf(startMarker), page.indexOf(endMarker)];
  if (start < 0 || end < start)
    throw new UserError(`${file} lacks markers: expected ${startMarker} and, after it, ${endMarker}.`);
  const content = [startMarker, ...parts, endMarker].join("\n\n");
  await writeFile(path, `${page.slice(0, start)}${content}${page.slice(end + endMarker.length)}`);
}

async function writeReplicasChart(): Promise<void> {
  const mix = separate.find((results) => results.kind === "replicas");
  const charges = separate.find((results) => results.kind === "charges");
  if (mix === undefined || charges === undefined) return;
  await writeFile(join(resultsFolder, "replicas.svg"), renderReplicas(mix, charges));
}

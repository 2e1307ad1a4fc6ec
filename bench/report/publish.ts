/**
 * Publishes results (`npm run bench:publish`): reads all runs in `bench/results/*.json` and the measurements beside the suite in
 * `bench/results/separate/`, and writes plots, `bench/results/README.md`, and tables between markers: into `docs/performance.md` those of the
 * largest run with throughput and Solr, the strongest peer, and of the separate measurements, into `docs/deployment.md` the processor time of requests, into `bench/README.md` the
 * targets. Never type a measured number by hand.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";
import { lakeFormat } from "../../src/lake/manifest.ts";
import { peerNames } from "../settings.ts";
import { costsTable } from "./costs.ts";
import { growthTable } from "./growth.ts";
import { type PlotPanel, renderPlot } from "./plot.ts";
import { type Results, readResults, valueIn } from "./results.ts";
import { formatSection, markdownTable, tablesOf } from "./tables.ts";
import { targetsTable } from "./targets.ts";

const resultsFolder = projectPath("bench/results");

/** The cases of the plots, in their order. */
const plottedCases = [
  ...["search: default page", "search: make, model, price", "search: radius 50", "search: two features"],
  ...["facets: all 30", "facets: all 30, state", "search: snapshot", "details: VIN"],
];

/** Runs of more days measure the length of history, others the number of listings. */
const shortHistoryDaysMax = 30;

type PlotDimension = "listings" | "days";

/** What the columns of the suite's tables are. */
const legend = `Medians in ms over HTTP, uncached; processor time per request; ratio: peer time / Carquet time, or Carquet's requests per second / the peer's.
Cases of past days and trends of runs on lake format 2, in which each day is a copy of all listings, say nothing about format ${lakeFormat}. Deviation:
the largest one of percentiles that a peer computes approximately, of the value or, for a median, of the standard deviation if that is larger.`;

const readFolder = async (folder: string): Promise<readonly Results[]> =>
  Promise.all(
    (await readdir(folder))
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => readResults(join(folder, name))),
  );

const runs = (await readFolder(resultsFolder))
  .flatMap(({ dataset, ...run }) => (dataset === undefined ? [] : [{ ...run, dataset }]))
  .sort((a, b) => a.dataset.listings - b.dataset.listings || a.dataset.days - b.dataset.days);
type SuiteRun = (typeof runs)[number];
const runsBySize = runs.filter(({ dataset }) => dataset.days <= shortHistoryDaysMax && dataset.options === "typical");
const runsByDays = runs.filter(({ dataset }) => dataset.days > shortHistoryDaysMax);
const runsWithThroughput = runsBySize.filter(({ measurements }) =>
  measurements.some(({ unit }) => unit === "requests/s"),
);

const plots: string[] = [];
await writePlot("cost-by-listings", runsBySize, "listings");
await writePlot("cost-by-days", runsByDays, "days");
await writeFile(
  join(resultsFolder, "README.md"),
  `${[introduction(), ...plots.map(plotImage), ...growth(), ...runs.map((run) => formatSection(run, "##"))].join("\n\n")}\n`,
);
const publishedRun = runsWithThroughput.findLast(({ measurements }) =>
  measurements.some(({ server }) => server === "solr"),
);
if (publishedRun !== undefined) await replacePart("docs/performance.md", "results", runParts(publishedRun));
await replacePart("docs/deployment.md", "costs", [costsTable(runsWithThroughput)]);
await replacePart("bench/README.md", "targets", [targetsTable(runsWithThroughput)]);
const separate = await readFolder(join(resultsFolder, "separate"));
await replacePart(
  "docs/performance.md",
  "separate results",
  separate.map((results) => formatSection(results, "###")),
);

function plotImage(name: string): string {
  return `![median time of a case by ${name.replace("cost-by-", "")}](${name}.svg)`;
}

/** Writes `<name>.svg`, unless there are fewer than two runs to plot. */
async function writePlot(name: string, plottedRuns: readonly SuiteRun[], dimension: PlotDimension): Promise<void> {
  if (plottedRuns.length < 2) return;
  const panels = plottedCases.flatMap((title) => panelOf(title, plottedRuns, dimension));
  await writeFile(join(resultsFolder, `${name}.svg`), renderPlot(panels, dimension));
  plots.push(name);
}

/** Returns the panel of a case; empty if fewer than two runs have it. */
function panelOf(title: string, plottedRuns: readonly SuiteRun[], dimension: PlotDimension): readonly PlotPanel[] {
  const lines = ["carquet", ...peerNames].map((server) => ({
    name: server,
    points: plottedRuns.flatMap((run) => {
      const y = valueIn(run, { name: title, server, unit: "ms" });
      return y === undefined ? [] : [{ x: run.dataset[dimension], y }];
    }),
  }));
  const drawn = lines.filter(({ points }) => points.length > 1);
  return drawn.length === 0 ? [] : [{ title, lines: drawn }];
}

function introduction(): string {
  return `# Results

${legend} All servers of a run were measured in turn. Answers of peers equal Carquet's, except for those percentiles.
\`npm run bench:publish\` writes this page from the JSON files beside it.`;
}

/** Returns how costs grow over the runs of the present lake format, if they have several sizes. */
function growth(): readonly string[] {
  const comparable = runsBySize.filter(({ dataset }) => dataset.lakeFormat === lakeFormat);
  if (new Set(comparable.map(({ dataset }) => dataset.listings)).size < 2) return [];
  return [
    "## Growth\n\nThe exponent is that of the number of listings: 1 is proportional to it, 0 independent of it. Least squares over the logarithms.",
    growthTable(comparable),
  ];
}

/** Returns the tables of a run for `docs/performance.md`. */
function runParts(run: SuiteRun): readonly string[] {
  return [
    `${run.title}, ${run.machine.cores} cores. ${legend}`,
    ...tablesOf(run).map(markdownTable),
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

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
import { peerNames } from "../settings.ts";
import { budgetsTable } from "./budgets.ts";
import { costsTable } from "./costs.ts";
import { type Dimension, growthTable, sizeIn } from "./growth.ts";
import { type PlotPanel, renderPlot } from "./plot.ts";
import { type Results, readResults, valueIn } from "./results.ts";
import { formatSection, markdownTable, tablesOf } from "./tables.ts";
import { targetsTable } from "./targets.ts";

const resultsFolder = projectPath("bench/results");

/** The plots of a dimension: names of measurements with their units. */
const plotted: readonly (readonly [name: string, unit: string])[] = [
  ...[
    ...["search: default page", "search: make, model, price", "search: radius 50", "search: two features"],
    ...["facets: all 30", "facets: all 30, state", "search: snapshot", "details: VIN"],
  ].map((name) => [name, "ms"] as const),
  ["8 clients, uncached", "requests/s"],
  ["64 clients, cached", "requests/s"],
  ["memory of the service after start", "MiB"],
  ["peak memory of the service", "MiB"],
];

/** Runs of more days measure the length of history, others the number of listings. */
const shortHistoryDaysMax = 30;

/** What the columns of the suite's tables are. */
const legend = `Medians in ms over HTTP, uncached; processor time per request; ratio: peer time / Carquet time, or Carquet's requests per second / the peer's. Deviation:
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
const shortRuns = runs.filter(({ dataset }) => dataset.days <= shortHistoryDaysMax && dataset.options === "typical");
const hasPeers = ({ measurements }: SuiteRun): boolean =>
  measurements.some(({ server }) => peerNames.some((name) => name === server));
const withoutPeers = shortRuns.filter((run) => !hasPeers(run));
/** Runs of a size without peers are compared by processors, because other servers take their share of caches. */
const runsByProcessors = withoutPeers.filter(({ dataset, machine }) =>
  withoutPeers.some((other) => other.dataset.listings === dataset.listings && other.machine.cores !== machine.cores),
);
const runsBySize = shortRuns.filter((run) => !runsByProcessors.includes(run));
const runsWithThroughput = runsBySize.filter(({ measurements }) =>
  measurements.some(({ unit }) => unit === "requests/s"),
);

const growth: string[] = [];
for (const dimension of ["listings", "processors"] as const)
  growth.push(...(await publishGrowth(dimension === "listings" ? runsBySize : runsByProcessors, dimension)));
await writeFile(
  join(resultsFolder, "README.md"),
  `${[introduction(), ...growth, ...runs.map((run) => formatSection(run, "##"))].join("\n\n")}\n`,
);
const publishedRun = runsWithThroughput.findLast(({ measurements }) =>
  measurements.some(({ server }) => server === "solr"),
);
if (publishedRun !== undefined) await replacePart("docs/performance.md", "results", runParts(publishedRun));
await replacePart("docs/deployment.md", "costs", [costsTable(runsWithThroughput)]);
await replacePart("docs/deployment.md", "memory", [budgetsTable(runsWithThroughput)]);
await replacePart("bench/README.md", "targets", [targetsTable(runsWithThroughput.filter(hasPeers))]);
const separate = await readFolder(join(resultsFolder, "separate"));
await replacePart(
  "docs/performance.md",
  "separate results",
  separate.map((results) => formatSection(results, "###")),
);

/** Plots costs by a dimension and returns them with their growth; nothing if the runs have one size in it. */
async function publishGrowth(measuredRuns: readonly SuiteRun[], dimension: Dimension): Promise<readonly string[]> {
  if (new Set(measuredRuns.map((run) => sizeIn(run, dimension))).size < 2) return [];
  const panels = plotted.flatMap((of) => panelOf(of, measuredRuns, dimension));
  await writeFile(join(resultsFolder, `cost-by-${dimension}.svg`), renderPlot(panels, dimension));
  const of = dimension === "listings" ? "" : ` of ${measuredRuns[0]?.title ?? ""}`;
  return [
    `## Growth by ${dimension}${of}`,
    plotImage(dimension, ""),
    `The exponent is that of the number of ${dimension}: 1 is proportional to it, 0 independent of it. Least squares over the logarithms.${aloneNote(measuredRuns)}`,
    growthTable(measuredRuns, dimension),
  ];
}

/** Returns a sentence about the runs without peers, if others have them: servers share caches and processors. */
function aloneNote(measuredRuns: readonly SuiteRun[]): string {
  const alone = measuredRuns.filter((run) => !hasPeers(run));
  if (alone.length === 0 || alone.length === measuredRuns.length) return "";
  return ` Measured alone, without other servers: ${alone.map(({ dataset }) => dataset.listings.toLocaleString("en")).join("; ")}.`;
}

function plotImage(dimension: Dimension, folder: string): string {
  return `![costs by ${dimension}](${folder}cost-by-${dimension}.svg)`;
}

/** Returns the panel of a measurement; empty if no server has it at two sizes. */
function panelOf(
  [name, unit]: (typeof plotted)[number],
  plottedRuns: readonly SuiteRun[],
  dimension: Dimension,
): readonly PlotPanel[] {
  const lines = ["carquet", ...peerNames].map((server) => ({
    name: server,
    points: plottedRuns
      .flatMap((run) => {
        const y = valueIn(run, { name, server, unit });
        return y === undefined ? [] : [{ x: sizeIn(run, dimension), y }];
      })
      .sort((a, b) => a.x - b.x),
  }));
  const drawn = lines.filter(({ points }) => points.length > 1);
  return drawn.length === 0 ? [] : [{ title: `${name}, ${unit}`, lines: drawn }];
}

function introduction(): string {
  return `# Results

${legend} All servers of a run were measured in turn. Answers of peers equal Carquet's, except for those percentiles.
\`npm run bench:publish\` writes this page from the JSON files beside it; \`npm run bench:all\` measures all of them before.`;
}

/** Returns the tables of a run for `docs/performance.md`. */
function runParts(run: SuiteRun): readonly string[] {
  return [
    `${run.title}, ${run.machine.cores} cores. ${legend}`,
    ...tablesOf(run).map(markdownTable),
    plotImage("listings", "../bench/results/"),
  ];
}

/** Replaces the part of a page between the markers of a name. */
async function replacePart(file: string, name: string, parts: readonly string[]): Promise<void> {
  const path = projectPath(file);
  const page = await readFile(path, "utf8");
  const startMarker = `<!-- ${name} -->`;
  const endMarker = `<!-- end of ${name} -->`;
  const start = page.indexOf(startMarker);
  const end = page.indexOf(endMarker);
  if (start < 0 || end < start)
    throw new UserError(`${file} lacks markers: expected ${startMarker} and, after it, ${endMarker}.`);
  const content = [startMarker, ...parts, endMarker].join("\n\n");
  await writeFile(path, `${page.slice(0, start)}${content}${page.slice(end + endMarker.length)}`);
}

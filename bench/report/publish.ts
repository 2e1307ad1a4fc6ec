/**
 * Publishes results: `npm run bench:publish` reads every run in `bench/results/*.json` and writes the tables and plots from them, into
 * `bench/results/README.md` (all of it) and between two marks of the project's README (the largest market whose throughput was measured).
 * No number is typed.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";
import { type Line, type Panel, plot } from "./plot.ts";
import { approximations, peersOf } from "./report.ts";
import { askedIn, type CaseResult, type Results } from "./results.ts";
import { casesTable, legendOf, section, throughputTable } from "./tables.ts";

const folder = projectPath("bench/results");

/** What the plots show; the first four are those that people ask for most. */
const plotted = [
  ...["search: default page", "search: make, model, price", "search: radius 50", "search: two features"],
  ...["facets: all 30", "facets: all 30, state", "search: snapshot", "details: VIN"],
];

const files = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
const runs: readonly Results[] = await Promise.all(
  files.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8"))),
);
const bySize = [...runs].sort(
  (one, other) => one.dataset.listings - other.dataset.listings || one.dataset.days - other.dataset.days,
);

/** The runs that differ in their number of listings, and those that differ in their number of days. */
const fewDays = 30;
const sizes = bySize.filter(({ dataset }) => dataset.days <= fewDays && dataset.options === "typical");
const lengths = bySize.filter(({ dataset }) => dataset.days > fewDays);

/** Times over HTTP and those of the older format are in no plot together: those over HTTP if there are two, else the older ones. */
function ofOneFormat(over: readonly Results[]): readonly Results[] {
  const overHttp = over.filter((run) => askedIn(run) === "over HTTP");
  return overHttp.length > 1 ? overHttp : over.filter((run) => askedIn(run) === "in process");
}

const plots: string[] = [];
await draw("cost-by-listings", ofOneFormat(sizes), "listings");
await draw("cost-by-days", ofOneFormat(lengths), "days");
await writeFile(join(folder, "README.md"), `${[intro(), ...plots.map(image), ...bySize.map(section)].join("\n\n")}\n`);
await intoReadme(sizes.findLast(({ throughput }) => throughput.length > 0));

function image(name: string): string {
  return `![median time of a case by ${name.replace("cost-by-", "")}](${name}.svg)`;
}

async function draw(name: string, over: readonly Results[], by: "listings" | "days"): Promise<void> {
  if (over.length < 2) return;
  await writeFile(join(folder, `${name}.svg`), plot(panelsOf(over, by), by));
  plots.push(name);
}

function panelsOf(over: readonly Results[], by: "listings" | "days"): readonly Panel[] {
  return plotted.flatMap((title): readonly Panel[] => {
    const found = over.flatMap(({ dataset, cases }) => {
      const one = cases.find((result) => result.case === title);
      return one === undefined ? [] : [{ x: dataset[by], one }];
    });
    if (found.length < 2) return [];
    const lineOf = (name: string, ms: (result: CaseResult) => number | undefined): Line => ({
      name,
      points: found.flatMap(({ x, one }) => {
        const y = ms(one);
        return y === undefined ? [] : [{ x, y }];
      }),
    });
    const names = [...new Set(over.flatMap((run) => peersOf(run)))];
    const lines = [
      lineOf("carquet", ({ carquet }) => carquet.p50_ms),
      ...names.map((name) => lineOf(name, ({ peers }) => peers[name]?.p50_ms)),
    ];
    return [{ title, lines: lines.filter(({ points }) => points.length > 1) }];
  });
}

function intro(): string {
  return `# Results

Medians in milliseconds, uncached, all servers in one run and in turn; in parentheses: peer time / Carquet time. Each answer of a peer
was the same as Carquet's, except where approximations are named. Written by \`npm run bench:publish\` from the JSON files beside this page.`;
}

/** Puts the tables of a run between the marks of the README. */
async function intoReadme(run: Results | undefined): Promise<void> {
  if (run === undefined) return;
  const path = projectPath("README.md");
  const readme = await readFile(path, "utf8");
  const [start, end] = ["<!-- results: npm run bench:publish -->", "<!-- end of results -->"];
  const [from, to] = [readme.indexOf(start), readme.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`README.md lacks the marks ${start} and ${end}.`);
  const { dataset, machine } = run;
  const told = `${dataset.listings.toLocaleString("en")} listings, ${machine.cores} cores. ${[legendOf(run), approximations(run)].filter((line) => line !== undefined).join(" ")}`;
  const plotted = plots.includes("cost-by-listings") ? ["![time by size](bench/results/cost-by-listings.svg)"] : [];
  const parts = [
    start,
    told,
    casesTable(run),
    ...(run.throughput.length === 0 ? [] : [throughputTable(run)]),
    ...plotted,
    end,
  ];
  await writeFile(path, `${readme.slice(0, from)}${parts.join("\n\n")}${readme.slice(to + end.length)}`);
}

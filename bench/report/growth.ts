/** How costs grow with the listings or the processors: a power of their number, fitted over several runs. */
import { peerNames } from "../settings.ts";
import { type Results, valueIn } from "./results.ts";
import { formatNumber, markdownTable } from "./tables.ts";

export type Dimension = "listings" | "processors";

/** Returns the size of a run in a dimension. */
export const sizeIn = ({ dataset, machine }: Results, dimension: Dimension): number =>
  dimension === "listings" ? (dataset?.listings ?? 0) : machine.cores;

/** What is fitted: the name of a measurement and its unit. */
type Cost = readonly [name: string, unit: string];

const costs: readonly Cost[] = [
  ...[
    ...["search: default page", "search: make, model, price", "search: state", "search: radius 50"],
    ...["search: two features", "search: snapshot", "facets: sidebar, state", "facets: all 30"],
    ...["facets: all 30, state", "facets: median price by make", "details: VIN"],
    ...["life: start-up to the first answer", "life: publish to the first answer", "life: build the serving files"],
  ].map((name): Cost => [name, "ms"]),
  ...["1 client, uncached", "8 clients, uncached", "64 clients, uncached", "64 clients, cached"].map(
    (name): Cost => [name, "requests/s"],
  ),
  ["memory of the service after start", "MiB"],
  ["peak memory of the service", "MiB"],
];

interface Point {
  readonly size: number;
  readonly cost: number;
}

/** Returns a table of costs by size, with the exponent for each server that was measured at two sizes or more. */
export function growthTable(runs: readonly Results[], dimension: Dimension): string {
  const sizes = [...new Set(runs.map((run) => sizeIn(run, dimension)))].sort((a, b) => a - b);
  const pointsOf = ([name, unit]: Cost, server: string): readonly Point[] =>
    runs.flatMap((run) => {
      const cost = valueIn(run, { name, server, unit });
      return cost === undefined ? [] : [{ size: sizeIn(run, dimension), cost }];
    });
  const fitted = ["carquet", ...peerNames].filter((server) =>
    costs.some((cost) => exponentOf(pointsOf(cost, server)) !== undefined),
  );
  const rows = costs.flatMap((cost) => {
    const own = pointsOf(cost, "carquet");
    const row = [
      cost.join(", "),
      ...sizes.map((size) => formatNumber(own.findLast((point) => point.size === size)?.cost)),
      ...fitted.map((server) => formatNumber(exponentOf(pointsOf(cost, server)))),
    ];
    return own.length === 0 ? [] : [row];
  });
  const heads = sizes.map((size) => `carquet, ${size.toLocaleString("en")}`);
  return markdownTable([["cost", ...heads, ...fitted.map((server) => `${server}: exponent`)], ...rows]);
}

/** Returns the slope of the least-squares line through the logarithms; undefined with fewer than two sizes. */
function exponentOf(points: readonly Point[]): number | undefined {
  const pairs = points.map(({ size, cost }) => [Math.log(size), Math.log(cost)] as const);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(pairs.map(([x]) => x));
  const meanY = mean(pairs.map(([, y]) => y));
  const spread = pairs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (pairs.length < 2 || spread === 0) return undefined;
  return pairs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

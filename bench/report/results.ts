/** The format of results, which every measurement writes with `--json`, and which `bench:publish` reads. */
import { readFile } from "node:fs/promises";
import { messageOf, UserError } from "../../src/base/user-error.ts";
import { quantile, roundToThousandths } from "../measure/timing.ts";

/** A value that was measured: of times the median, with their 99th percentile. */
export interface Measurement {
  /** What was done, for example a case. */
  readonly name: string;
  /** What did it: carquet, a peer, or a part of either. */
  readonly server: string;
  readonly unit: string;
  readonly value: number;
  readonly p99?: number;
}

/** The machine and the programs of a run. */
export interface Environment {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memory_gib: number;
    readonly system: string;
  };
  readonly versions: Readonly<Record<string, string>>;
}

export interface Results extends Environment {
  readonly title: string;
  /** Sentences about what was measured. */
  readonly notes: readonly string[];
  /** The dataset of the suite. */
  readonly dataset?: {
    readonly listings: number;
    readonly days: number;
    readonly options: string;
    readonly lakeFormat: number;
  };
  readonly measurements: readonly Measurement[];
}

/** Returns a measurement of times in milliseconds. */
export const timed = (name: string, server: string, times: readonly number[] = []): Measurement => ({
  name,
  server,
  unit: "ms",
  value: roundToThousandths(quantile(times, 0.5)),
  p99: roundToThousandths(quantile(times, 0.99)),
});

/** Returns the measurements of a server by unit, without those that are unknown. */
export const measured = (
  name: string,
  server: string,
  values: Readonly<Record<string, number | undefined>>,
): readonly Measurement[] =>
  Object.entries(values).flatMap(([unit, value]) =>
    value === undefined || Number.isNaN(value) ? [] : [{ name, server, unit, value: roundToThousandths(value) }],
  );

/** Returns the value of a server; undefined if it was not measured. */
export const valueIn = (
  { measurements }: Pick<Results, "measurements">,
  sought: Pick<Measurement, "name" | "server" | "unit">,
): number | undefined =>
  measurements.find(
    ({ name, server, unit }) => name === sought.name && server === sought.server && unit === sought.unit,
  )?.value;

/** Returns how many times as fast Carquet is as another server: times of it divided by Carquet's, or Carquet's rate by its rate. */
export function ratioIn(results: Pick<Results, "measurements">, name: string, server: string): number | undefined {
  const [unit, isRate] =
    valueIn(results, { name, server, unit: "requests/s" }) === undefined ? ["ms", false] : ["requests/s", true];
  const [ours, theirs] = ["carquet", server].map((one) => valueIn(results, { name, server: one, unit }));
  if (ours === undefined || theirs === undefined) return undefined;
  return roundToThousandths(isRate ? ours / theirs : theirs / ours);
}

/** Reads results. Throws a `UserError` if a file has none. */
export async function readResults(path: string): Promise<Results> {
  try {
    const results: Results = JSON.parse(await readFile(path, "utf8"));
    if (Array.isArray(results.measurements)) return results;
  } catch (thrown) {
    throw new UserError(`Cannot read ${path}: expected results written by --json (${messageOf(thrown)}).`);
  }
  throw new UserError(`${path} has no measurements: expected results written by --json of this release.`);
}

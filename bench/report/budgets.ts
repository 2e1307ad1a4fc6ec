/** Memory budgets of a service, which `docs/deployment.md` states and a run of the suite must keep. */
import { UserError } from "../../src/base/user-error.ts";
import { memoryWithExports } from "../measure/export-load.ts";
import { type Results, valueIn } from "./results.ts";
import { formatNumber, markdownTable } from "./tables.ts";

interface Budget {
  readonly name: string;
  readonly listings: number;
  readonly mib: number;
}

/** 600 MB at rest and 1.5 GB in the mix, at a million listings. */
const budgets: readonly Budget[] = [
  { name: "memory of the service after start", listings: 1_000_000, mib: 572 },
  { name: "peak memory of the service", listings: 1_000_000, mib: 1430 },
  { name: memoryWithExports, listings: 1_000_000, mib: 1430 },
];

const memoryOf = (results: Results, name: string): number | undefined =>
  valueIn(results, { name, server: "carquet", unit: "MiB" });

/** Throws a `UserError` if a run of at most as many listings as a budget is for took more memory. */
export function requireBudgets(results: Results): void {
  const listings = results.dataset?.listings ?? Number.POSITIVE_INFINITY;
  const exceeded = budgets.flatMap(({ name, listings: max, mib }) => {
    const value = memoryOf(results, name);
    return listings <= max && value !== undefined && value > mib
      ? [`${name} is ${value} MiB: expected at most ${mib} at ${max.toLocaleString("en")} listings.`]
      : [];
  });
  if (exceeded.length > 0) throw new UserError(exceeded.join(" "));
}

/** Returns the table of budgets with the memory in runs of several sizes. */
export function budgetsTable(runs: readonly Results[]): string {
  const sizes = runs.map(({ dataset }) => `${(dataset?.listings ?? 0).toLocaleString("en")}: MiB`);
  const rows = budgets.map(({ name, listings, mib }) => [
    name,
    `${mib.toLocaleString("en")} MiB at ${listings.toLocaleString("en")} listings`,
    ...runs.map((run) => formatNumber(memoryOf(run, name))),
  ]);
  return markdownTable([["memory", "budget", ...sizes], ...rows]);
}

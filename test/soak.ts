/**
 * Runs a campaign, a test too long for every run: `node --import tsx/esm test/soak.ts <name> [--draws N] [--seed S]`.
 *
 * Lists the campaigns without a name. The same seed and draws repeat the same run.
 */
import { parseArgs } from "node:util";
import type { Campaign } from "./soak/campaign.ts";

/** Modules of the campaigns, loaded on demand. */
const campaigns: Readonly<Record<string, () => Promise<{ readonly default: Campaign }>>> = {
  charges: () => import("./soak/charges.ts"),
  crashes: () => import("./soak/crashes.ts"),
  ledger: () => import("./soak/ledger.ts"),
  life: () => import("./soak/lifecycle.ts"),
  kills: () => import("./soak/ingest-kills.ts"),
  follow: () => import("./soak/follow.ts"),
  power: () => import("./soak/power.ts"),
  search: () => import("./soak/search.ts"),
  facets: () => import("./soak/facets.ts"),
  trends: () => import("./soak/trends.ts"),
  index: () => import("./soak/search-index.ts"),
  feeds: () => import("./soak/feeds.ts"),
  hostile: () => import("./soak/hostile.ts"),
  healthy: () => import("./soak/healthy.ts"),
  swaps: () => import("./soak/swaps.ts"),
  damage: () => import("./soak/damage.ts"),
  fairness: () => import("./soak/fairness.ts"),
  restarts: () => import("./soak/restarts.ts"),
  upgrade: () => import("./soak/upgrade.ts"),
  mixed: () => import("./soak/mixed.ts"),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { draws: { type: "string" }, seed: { type: "string", default: "1" } },
});
const [name, ...rest] = positionals;
const loadCampaign = campaigns[name ?? ""];

if (name === undefined) await list();
else if (loadCampaign === undefined || rest.length > 0)
  fail(`Unknown campaign "${positionals.join(" ")}": expected one of ${Object.keys(campaigns).join(", ")}.`);
else await run(name, (await loadCampaign()).default);

async function list(): Promise<void> {
  for (const [campaign, module] of Object.entries(campaigns)) {
    const { describe, draws } = (await module()).default;
    process.stdout.write(`${campaign}: ${describe}; ${draws} draws\n`);
  }
}

async function run(running: string, { describe, draws, run: runCampaign }: Campaign): Promise<void> {
  const extent = {
    seed: parseWholeNumber("seed", values.seed),
    draws: parseWholeNumber("draws", values.draws ?? String(draws)),
  };
  process.stdout.write(`${running}, seed ${extent.seed}, ${extent.draws} draws: ${describe}\n`);
  const start = performance.now();
  const seconds = (): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    const summary = await runCampaign(extent);
    process.stdout.write(`${summary}, in ${seconds()}\n`);
  } catch (thrown) {
    fail(`${running} failed after ${seconds()}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

function parseWholeNumber(option: string, value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  fail(`Invalid value "${value}" for --${option}: expected a whole number of up to 9 digits.`);
  process.exit();
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

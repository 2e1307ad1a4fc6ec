/**
 * Campaigns that are too long for every test run: `node --import tsx test/soak.ts <name> [--draws N] [--seed S]`.
 *
 * Without a name it lists them. The same seed and draws do the same again.
 */
import { parseArgs } from "node:util";
import type { Campaign } from "./soak/campaign.ts";

/** Where each campaign is; its module is loaded when it is asked for. */
const campaigns: Readonly<Record<string, () => Promise<{ readonly default: Campaign }>>> = {
  charges: () => import("./soak/charges.ts"),
  ledger: () => import("./soak/ledger.ts"),
  life: () => import("./soak/life.ts"),
  kills: () => import("./soak/kills.ts"),
  power: () => import("./soak/power.ts"),
  search: () => import("./soak/search.ts"),
  facets: () => import("./soak/facets.ts"),
  index: () => import("./soak/search-index.ts"),
  hostile: () => import("./soak/hostile.ts"),
  swaps: () => import("./soak/swaps.ts"),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { draws: { type: "string" }, seed: { type: "string", default: "1" } },
});
const [name, ...rest] = positionals;
const load = campaigns[name ?? ""];

if (name === undefined) await list();
else if (load === undefined || rest.length > 0) fail(`there is no campaign ${positionals.join(" ")}`);
else await run(name, (await load()).default);

async function list(): Promise<void> {
  for (const [listed, module] of Object.entries(campaigns)) {
    const { describe, draws } = (await module()).default;
    process.stdout.write(`${listed}: ${describe}; ${draws} draws\n`);
  }
}

async function run(running: string, { describe, draws, run: runCampaign }: Campaign): Promise<void> {
  const extent = { seed: whole("seed", values.seed), draws: whole("draws", values.draws ?? String(draws)) };
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

function whole(option: string, value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  fail(`--${option} ${value}: not a whole number`);
  process.exit();
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

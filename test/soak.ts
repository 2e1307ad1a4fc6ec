/**
 * Runs a campaign, a test too long for every run: `node --import tsx/esm test/soak.ts <name> [--draws N] [--seed S]`.
 *
 * Lists the campaigns without a name. The same seed and draws repeat the same run.
 */
import { parseArgs } from "node:util";
import type { Campaign } from "./soak/campaign.ts";

/** The campaigns, loaded on demand. */
const campaigns: Readonly<Record<string, () => Promise<Campaign>>> = {
  charges: async () => (await import("./soak/services.ts")).charges,
  crashes: async () => (await import("./soak/services.ts")).crashes,
  ledger: async () => (await import("./soak/ledger.ts")).default,
  life: async () => (await import("./soak/lifecycle.ts")).default,
  kills: async () => (await import("./soak/writers.ts")).kills,
  follow: async () => (await import("./soak/writers.ts")).follow,
  power: async () => (await import("./soak/power.ts")).default,
  consistency: async () => (await import("./soak/consistency.ts")).default,
  index: async () => (await import("./soak/search-index.ts")).default,
  feeds: async () => (await import("./soak/feeds.ts")).default,
  hostile: async () => (await import("./soak/inputs.ts")).hostile,
  fuzz: async () => (await import("./soak/inputs.ts")).fuzzed,
  healthy: async () => (await import("./soak/healthy.ts")).default,
  swaps: async () => (await import("./soak/swaps.ts")).default,
  damage: async () => (await import("./soak/damage.ts")).default,
  fairness: async () => (await import("./soak/fairness.ts")).default,
  restarts: async () => (await import("./soak/services.ts")).restarts,
  upgrade: async () => (await import("./soak/services.ts")).upgrade,
  mixed: async () => (await import("./soak/mixed.ts")).default,
  "event-loop": async () => (await import("./soak/event-loop.ts")).default,
  overload: async () => (await import("./soak/overload.ts")).default,
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
else await run(name, await loadCampaign());

async function list(): Promise<void> {
  for (const [campaign, load] of Object.entries(campaigns)) {
    const { describe, draws } = await load();
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

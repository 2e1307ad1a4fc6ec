/** Verifies random small markets, which are healthy, after each command that changes a lake's files. */
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { indexLake } from "../../../src/cli/commands/index-lake.ts";
import { vacuum } from "../../../src/lake/maintenance/vacuum.ts";
import { verify } from "../../../src/lake/maintenance/verify.ts";
import { currentManifest } from "../../../src/lake/manifest.ts";
import { withWriter } from "../../../src/lake/writer/writer.ts";
import { verifyServingFiles } from "../../../src/serving/files/verify-serving-files.ts";
import type { Chance } from "../chance.ts";
import { generateFeeds } from "../lakes/generated.ts";
import { ingestPath, temporaryFolder } from "../lakes/lakes.ts";
import { withScope } from "../scope.ts";

const options = { threads: 1 } as const;

/** Returns the faults that `carquet verify` prints. */
async function faultsOf(lake: string): Promise<readonly string[]> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) return ["nothing is published"];
  const faults = await verify(lake, manifest, options, () => undefined);
  return faults.length > 0 ? faults : verifyServingFiles(lake, manifest, options, () => undefined);
}

/** A step between two verifications of a lake. Commands whose result is a new version keep the lake healthy. */
const steps: readonly (readonly [what: string, change: (lake: string) => Promise<unknown>])[] = [
  ["ingest", async () => undefined],
  [
    "vacuum",
    (lake) => {
      const retention = { months: 1, versionDays: 1 };
      return withWriter(lake, options, (writer) => vacuum(writer, retention, Date.now(), 0));
    },
  ],
  ["a backup without serving/", (lake) => rm(join(lake, "serving"), { recursive: true })],
  ["index", (lake) => indexLake({ lake, ...options })],
];

/**
 * Verifies a number of markets after each step, and reports the number of verified ones to `onVerified`. Returns how many lakes were verified;
 * throws with the market and the step of a fault.
 */
export async function verifyMarkets(
  markets: number,
  chance: Chance,
  onVerified: (done: number) => void = () => undefined,
): Promise<number> {
  for (let market = 0; market < markets; market += 1) {
    const shape = {
      seed: chance.integer(1, 2 ** 31),
      listings: chance.integer(20, chance.happens(0.2) ? 3000 : 300),
      days: chance.integer(1, 5),
    };
    await withScope(async (scope) => {
      const folder = await temporaryFolder(scope);
      const lake = join(folder, "lake");
      await ingestPath(lake, await generateFeeds(scope, shape), options);
      for (const [what, change] of steps) {
        await change(lake);
        const faults = await faultsOf(lake);
        if (faults.length > 0) throw new Error(`${JSON.stringify(shape)}, after ${what}: ${faults.join("; ")}`);
      }
      const copy = join(folder, "copy");
      await cp(lake, copy, { recursive: true, verbatimSymlinks: true });
      const faults = await faultsOf(copy);
      if (faults.length > 0) throw new Error(`${JSON.stringify(shape)}, copied: ${faults.join("; ")}`);
    });
    onVerified(market + 1);
  }
  return markets * (steps.length + 1);
}

/** What happens between answers: a service that starts, and one that takes up a version that has just been published. */
import { copyFile, link, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { currentPath, currentVersion, readManifest } from "../../src/lake/manifest.ts";
import { type Dataset, runCarquet } from "../dataset/dataset.ts";
import { at } from "../questions/question.ts";
import type { CaseResult } from "../report/results.ts";
import { type Running, start } from "../servers/carquet.ts";
import { timingOf } from "./measure.ts";

export interface MeasuredService {
  readonly dataset: Dataset;
  readonly accounts: string;
  readonly key: string;
  readonly scratch: string;
  readonly times: number;
}

const aQuestion = "/v1/listings?limit=1";

/** Starts a service and asks it, again and again: from the start of the process to its first answer. */
export async function startUp({ dataset, accounts, key, times }: MeasuredService): Promise<CaseResult> {
  const taken: number[] = [];
  let rows = 0;
  for (let time = 0; time < times; time += 1) {
    const startedAtMs = performance.now();
    const service = await serve(dataset.lake, accounts, key);
    try {
      rows = totalOf(await service.answer(aQuestion));
      taken.push(performance.now() - startedAtMs);
    } finally {
      await service.stop();
    }
  }
  return { case: "life: start-up to the first answer", rows, carquet: timingOf(taken), peers: {}, ratio: {} };
}

/**
 * Publishes the last version of a lake and the one before it in turn, while a service runs: from the change of CURRENT to the first answer
 * from that version. Then builds all serving files of the last version anew, as a publisher does. Nothing where there is only one version.
 * Returns the service's memory at most, too.
 */
export async function publishToServed({ dataset, accounts, key, scratch, times }: MeasuredService): Promise<Published> {
  const lake = join(scratch, "lake");
  await linked(dataset.lake, lake);
  const last = await currentVersion(dataset.lake);
  const { previous } = await readManifest(dataset.lake, last ?? "");
  if (last === undefined || previous === null) return { cases: [], peakMib: 0 };
  const service = await serve(lake, accounts, key);
  const untilAnswered: number[] = [];
  let rows = 0;
  try {
    for (let time = 0; time < times * 2; time += 1) {
      const version: string = time % 2 === 0 ? previous : last;
      await publish(lake, version);
      const publishedAtMs = performance.now();
      rows = await answered(service, version);
      if (version === last) untilAnswered.push(performance.now() - publishedAtMs);
    }
    const { peakMib } = await service.memory();
    const result = (name: string, taken: readonly number[]): CaseResult => ({
      ...{ case: `life: ${name}`, rows, carquet: timingOf(taken), peers: {}, ratio: {} },
    });
    return {
      cases: [
        result("publish to the first answer", untilAnswered),
        result("build the serving files", [await built(lake)]),
      ],
      peakMib,
    };
  } finally {
    await service.stop();
  }
}

/** How long it takes to build the serving files of a lake's published version, all of them. */
async function built(lake: string): Promise<number> {
  await rm(join(lake, "serving"), { recursive: true });
  const startedAtMs = performance.now();
  await runCarquet(["index", "--lake", lake], () => {});
  return performance.now() - startedAtMs;
}

export interface Published {
  readonly cases: readonly CaseResult[];
  readonly peakMib: number;
}

const serve = (lake: string, accounts: string, key: string): Promise<Running> =>
  start("src/main.ts", ["serve", "--lake", lake, "--accounts", accounts, "--port", "0"], key);

const totalOf = (body: unknown): number => Number(at(body, "pagination", "total"));

async function publish(lake: string, version: string): Promise<void> {
  await writeFile(`${currentPath(lake)}.next`, `${version}\n`);
  await rename(`${currentPath(lake)}.next`, currentPath(lake));
}

/** Asks until an answer is of a version; gives its total. */
async function answered(service: Running, version: string): Promise<number> {
  for (;;) {
    const body = await service.answer(aQuestion);
    if (at(body, "meta", "version") === version) return totalOf(body);
    await pause(5);
  }
}

/** A lake with the same files in it, under further names; its CURRENT is its own. */
async function linked(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [old, also] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linked(old, also);
    else if (entry.name === "CURRENT") await copyFile(old, also);
    else if (entry.isFile()) await link(old, also);
  }
}

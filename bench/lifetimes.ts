/** What happens between answers: a service that starts, and one that takes up a version that has just been published. */
import { copyFile, link, mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Failure } from "../src/base/failure.ts";
import { hotCopyName } from "../src/lake/hot-copy.ts";
import { knownFiles } from "../src/lake/lookups.ts";
import { currentPath, currentVersion, readManifest } from "../src/lake/manifest.ts";
import { rowCopyName } from "../src/lake/row-copies.ts";
import { type Running, start } from "./carquet.ts";
import type { Dataset } from "./dataset.ts";
import { timingOf } from "./measure.ts";
import { at } from "./questions/question.ts";
import type { CaseResult } from "./results.ts";

export interface Serving {
  readonly dataset: Dataset;
  readonly accounts: string;
  readonly key: string;
  readonly scratch: string;
  readonly times: number;
}

const aQuestion = "/v1/listings?limit=1";

/** Starts a service and asks it, again and again: from the start of the process to its first answer. */
export async function startUp({ dataset, accounts, key, times }: Serving): Promise<CaseResult> {
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
 * Publishes the last version of a lake and the one before it in turn, while a service runs: from the change of CURRENT to the first
 * answer from that version, and until its hot copy is there; the last time, until its row copies are. Nothing where there is only one
 * version. Tells the service's memory at most.
 */
export async function publishToServed({ dataset, accounts, key, scratch, times }: Serving): Promise<Published> {
  const lake = join(scratch, "lake");
  await linked(dataset.lake, lake);
  const last = await currentVersion(dataset.lake);
  const { previous } = await readManifest(dataset.lake, last ?? "");
  if (last === undefined || previous === null) return { cases: [], peakMib: 0 };
  const service = await serve(lake, accounts, key);
  const [untilAnswered, untilHot]: [number[], number[]] = [[], []];
  let rows = 0;
  try {
    await hotCopy(lake, last);
    for (let time = 0; time < times * 2; time += 1) {
      const version: string = time % 2 === 0 ? previous : last;
      await publish(lake, version);
      const publishedAtMs = performance.now();
      rows = await answered(service, version);
      if (version === last) untilAnswered.push(performance.now() - publishedAtMs);
      await hotCopy(lake, version);
      if (version === last) untilHot.push(performance.now() - publishedAtMs);
    }
    const hotAtMs = performance.now();
    await rowCopies(lake, last);
    const untilCopied = (untilHot.at(-1) ?? 0) + performance.now() - hotAtMs;
    const { peakMib } = await service.memory();
    const result = (name: string, taken: readonly number[]): CaseResult => ({
      ...{ case: `life: publish to the ${name}`, rows, carquet: timingOf(taken), peers: {}, ratio: {} },
    });
    return {
      cases: [result("first answer", untilAnswered), result("hot copy", untilHot), result("row copies", [untilCopied])],
      peakMib,
    };
  } finally {
    await service.stop();
  }
}

export interface Published {
  readonly cases: readonly CaseResult[];
  readonly peakMib: number;
}

/** Resolves when the hot copy of a version has been made, a moment before it answers. */
const hotCopy = (lake: string, version: string): Promise<void> => made(join(lake, "hot"), [hotCopyName(version)]);

/** Resolves when the row copies of a version have been made. */
async function rowCopies(lake: string, version: string): Promise<void> {
  const known = knownFiles(await readManifest(lake, version));
  await made(
    join(lake, "hot", "rows"),
    known.map(({ file }) => rowCopyName(file)),
  );
}

/** Resolves when a folder has some files; fails when it has not within twenty minutes. */
async function made(folder: string, names: readonly string[]): Promise<void> {
  for (const untilMs = performance.now() + 1_200_000; performance.now() < untilMs; await pause(20)) {
    const there = new Set(await readdir(folder).catch((): string[] => []));
    if (names.every((name) => there.has(name))) return;
  }
  throw new Failure(`${folder}: no copy was made.`);
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

/** A lake with the same files in it, by other names of theirs; its CURRENT is its own, and it has no hot copy yet. */
async function linked(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [old, also] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === "hot") continue;
    if (entry.isDirectory()) await linked(old, also);
    else if (entry.name === "CURRENT") await copyFile(old, also);
    else if (entry.isFile()) await link(old, also);
  }
}

/**
 * Damages files of a lake at random, before or after it is opened, and compares every answer with those of the undamaged lake: damage is
 * detected (the version does not open, the file is not used, or the request is refused) or harmless. No answer is wrong, and no request ends
 * in a defect.
 */
import assert from "node:assert/strict";
import { open, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { textIn } from "../../../src/base/json.ts";
import { messageOf, UserError } from "../../../src/base/user-error.ts";
import {
  currentManifest,
  currentVersion,
  type Manifest,
  manifestPath,
  versionsIn,
} from "../../../src/lake/manifest.ts";
import { LakeVersion } from "../../../src/serving/lake-version.ts";
import type { ComparedAnswer } from "../../oracle/compare/oracle.ts";
import type { Chance } from "../chance.ts";
import { clientOf } from "../implementations.ts";
import type { LakeOfEveryState } from "../lakes/every-state.ts";
import { copyLake } from "../lakes/lakes.ts";

type DamageOutcome = "not opened" | "refused" | "not used" | "harmless";

/** The kinds of files, and the paths of a version's files of each. */
const kinds: Readonly<Record<string, (manifest: Manifest) => readonly string[]>> = {
  index: ({ serving }) => serving.filter(({ kind }) => kind === "index").map(({ path }) => path),
  rows: ({ serving }) => serving.filter(({ kind }) => kind === "rows").map(({ path }) => path),
  today: ({ tables }) => tables.listings.map(({ path }) => path),
  past: ({ tables }) => tables.past_listings.map(({ path }) => path),
  ...Object.fromEntries(
    (["sold", "absent", "builds", "dealers", "tokens", "options"] as const).map((table) => [
      table,
      ({ tables }: Manifest) => tables[table].map(({ path }) => path),
    ]),
  ),
  CURRENT: () => ["CURRENT"],
  manifest: ({ version }) => [manifestPath("", version)],
};

export const damagedKinds = Object.keys(kinds);

/** Kinds of damage: a changed bit most of the time. */
const damages: readonly ((path: string, bytes: number, chance: Chance) => Promise<void>)[] = [
  changeBit,
  changeBit,
  changeBit,
  changeBit,
  (path, bytes, chance) => truncate(path, chance.integer(0, bytes - 1)),
  (path) => rm(path),
];

/** Changes a bit of a file, truncates or removes it. */
export async function damageFile(path: string, chance: Chance): Promise<void> {
  const { size } = await stat(path);
  await chance.pick(damages)(path, size, chance);
}

async function changeBit(path: string, bytes: number, chance: Chance): Promise<void> {
  const file = await open(path, "r+");
  try {
    const position = chance.integer(0, bytes - 1);
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position);
    await file.write(Buffer.from([(buffer[0] ?? 0) ^ (1 << chance.integer(0, 7))]), 0, 1, position);
  } finally {
    await file.close();
  }
}

/** Searches, facets and look-ups of listings in every state. */
function pathsOf({ listings }: LakeOfEveryState, manifest: Manifest): readonly string[] {
  const days = Object.keys(manifest.days).filter((day, index) => day !== manifest.as_of && index % 5 === 0);
  return [
    ...[
      "",
      "make=honda&sort=-price",
      "offset=20&fields=default,features",
      "inventory_status=sold",
      "sold_within_days=3",
    ],
    ...days.map((day) => `snapshot_date=${day}&sort=price`),
  ]
    .map((query) => `/v1/listings?${query}`)
    .concat(
      ...["", "&inventory_status=sold", `&snapshot_date=${days[0]}`].map(
        (query) => `/v1/facets?facets=make,price${query}`,
      ),
      "/v1/facets?facets=model&metric=price.median",
      "/v1/dealers",
      ...listings
        .filter((_, index) => index % 3 === 0)
        .flatMap((row) => [
          `/v1/listings/${textIn(row, "id")}`,
          `/v1/vins/${textIn(row, "vin")}?include=price_history`,
        ]),
      "/v1/vins/1HGCM82633A004352",
    );
}

/** A lake, and the answers from its Parquet files. */
interface UndamagedLake {
  readonly lake: string;
  readonly manifest: Manifest;
  readonly answers: ReadonlyMap<string, ComparedAnswer>;
}

/** Records the answers of an undamaged lake. */
export async function recordAnswers(original: LakeOfEveryState): Promise<UndamagedLake> {
  const { lake } = original;
  const manifest = (await currentManifest(lake)) ?? assert.fail("nothing is published");
  const version = await LakeVersion.open(lake, manifest.version, { hasServingFiles: false });
  try {
    const answers = new Map<string, ComparedAnswer>();
    for (const path of pathsOf(original, manifest)) answers.set(path, await clientOf(version).get(path));
    return { lake, manifest, answers };
  } finally {
    version.close();
  }
}

interface DamageDraw {
  readonly kind: string;
  /** Whether the version is open when the file is damaged. */
  readonly isOpen: boolean;
}

/** Damages a file in a copy of the lake and asks everything. Returns how the damage showed; throws at a wrong answer. */
export async function damageAndAsk(
  { lake: original, manifest, answers }: UndamagedLake,
  folder: string,
  { kind, isOpen }: DamageDraw,
  chance: Chance,
): Promise<DamageOutcome> {
  const lake = join(folder, "lake");
  await rm(lake, { recursive: true, force: true });
  await copyLake(original, lake);
  const path = chance.pick(kinds[kind]?.(manifest) ?? []);
  const fallbacks: string[] = [];
  const openPublished = async (): Promise<LakeVersion> =>
    LakeVersion.open(lake, (await currentVersion(lake)) ?? "", { onRebuild: (message) => fallbacks.push(message) });
  const opened = isOpen ? await openPublished() : undefined;
  await opened?.openRest();
  await damageFile(join(lake, path), chance);
  // A changed CURRENT that names another version is an intact lake after a rollback.
  const name = await currentVersion(lake).catch(refusedByName(path));
  if (name !== manifest.version && (await versionsIn(lake)).includes(name ?? "")) return "harmless";
  const version = opened ?? (await openPublished().catch(() => undefined));
  if (version === undefined) return "not opened";
  try {
    const refusals = await compareAnswers(version, answers, path);
    return refusals > 0 ? "refused" : fallbacks.length > 0 ? "not used" : "harmless";
  } finally {
    version.close();
  }
}

/** Returns a function that takes the refusal of a damaged file, which names it, as no version. */
const refusedByName = (path: string) => (thrown: unknown) => {
  if (!(thrown instanceof UserError) || !thrown.message.includes(path)) throw thrown;
  return undefined;
};

/** Returns the number of requests that are refused as `data_unavailable`. Throws if another answer differs from the expected one. */
async function compareAnswers(
  version: LakeVersion,
  answers: UndamagedLake["answers"],
  damaged: string,
): Promise<number> {
  let refusals = 0;
  for (const [path, expected] of answers) {
    const answer = await clientOf(version)
      .get(path)
      .catch((thrown: unknown) => assert.fail(`${damaged} is damaged; ${messageOf(thrown)}`));
    if (answer.status === 503) refusals += 1;
    else if (!isDeepStrictEqual(answer, expected)) assert.fail(`${damaged} is damaged; ${path} has a wrong answer`);
  }
  return refusals;
}

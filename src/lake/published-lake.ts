/** The requirements of readers: a folder that is a lake, and a published version. */
import { readdir } from "node:fs/promises";
import { isNotFound } from "../base/files.ts";
import { ownValue } from "../base/json.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { compareVersions, currentVersion, type Manifest, manifestPath, readManifest, versionsIn } from "./manifest.ts";

/** Entries that a folder can have before it becomes a lake: those of file systems, operators and the first writer. */
const entryBeforeLake = /^(\.|lost\+found$|ICEBERG_LOCATION$|writer\.lock|spill$|last-ingest\.json)/;

const expected = "expected an empty folder or a lake. A lake has CURRENT and versions/.";

/** Throws a UserError for a path that neither is a lake nor can become one: a file, or a folder of other files. */
export async function requireLakeFolder(lake: string): Promise<void> {
  const names = await namesIn(lake);
  if (names.includes("versions") || names.includes("CURRENT")) return;
  const other = names.find((name) => !entryBeforeLake.test(name));
  if (other !== undefined) throw new UserError(`${lake}: not a lake, because it has ${printable(other)}: ${expected}`);
}

/** Returns the names in a folder; none if it is missing. */
async function namesIn(lake: string): Promise<readonly string[]> {
  try {
    return await readdir(lake);
  } catch (thrown) {
    if (isNotFound(thrown)) return [];
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOTDIR")
      throw new UserError(`${lake}: not a folder: ${expected}`);
    throw new UserError(`${lake}: cannot be read: ${messageOf(thrown)}: ${expected}`);
  }
}

/**
 * Returns the manifest of a version, by default of the published one. Throws a UserError if the path is not a lake, nothing has been published, or
 * the lake does not have the version.
 */
export async function requireManifest(lake: string, requested?: string): Promise<Manifest> {
  await requireLakeFolder(lake);
  if (requested !== undefined) return readManifest(lake, await requireVersion(lake, requested));
  const version = await currentVersion(lake);
  if (version === undefined)
    throw new UserError(`Lake ${lake} has no published version: expected one published by "${firstIngest(lake)}".`);
  try {
    return await readManifest(lake, version);
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    const location = manifestPath(lake, printable(version));
    throw new UserError(`${location}: not found: expected the manifest of ${printable(version)}, which CURRENT names.`);
  }
}

/** Versions that an error lists. */
const shownVersions = 5;

/** Returns a version. Throws a UserError if the lake does not have it. */
async function requireVersion(lake: string, version: string): Promise<string> {
  const versions = await versionsIn(lake);
  if (versions.includes(version)) return version;
  const newest = [...versions].sort(compareVersions).slice(-shownVersions).reverse();
  const known =
    newest.length === 0
      ? `one published by "${firstIngest(lake)}"`
      : `one of its versions, such as ${newest.join(", ")}`;
  throw new UserError(`Lake ${lake} has no version ${printable(version, 40)}: expected ${known}.`);
}

/** Returns the command that publishes the first version of a lake. */
export const firstIngest = (lake: string): string => `carquet ingest <path> --lake ${lake}`;

/** Throws a UserError for a day that a version does not have. */
export function requireDay({ days, as_of }: Pick<Manifest, "days" | "as_of">, day: string): void {
  if (ownValue(days, day) !== undefined) return;
  const first = Object.keys(days)[0] ?? as_of;
  throw new UserError(`Invalid day ${printable(day, 40)}: expected a day of the lake, from ${first} to ${as_of}.`);
}

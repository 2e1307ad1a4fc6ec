/** The requirements of readers: a folder that is a lake, and a published version. */
import { readdir } from "node:fs/promises";
import { isNotFound } from "../base/files.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { currentVersion, lakeFormat, type Manifest, manifestPath, readManifest } from "./manifest.ts";

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

/** Returns the manifest of the published version. Throws a UserError if the path is not a lake, or nothing has been published. */
export async function requireManifest(lake: string): Promise<Manifest> {
  await requireLakeFolder(lake);
  const version = await currentVersion(lake);
  if (version === undefined)
    throw new UserError(`Lake ${lake} has no published version: expected one published by "${firstIngest(lake)}".`);
  try {
    return await readManifest(lake, version);
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    const place = manifestPath(lake, printable(version));
    throw new UserError(`${place}: not found: expected the manifest of ${printable(version)}, which CURRENT names.`);
  }
}

/** Returns the command that publishes the first version of a lake. */
export const firstIngest = (lake: string): string => `carquet ingest <path> --lake ${lake}`;

export function requireCurrentFormat(lake: string, version: Manifest | undefined): void {
  if (version === undefined || version.format === lakeFormat) return;
  throw new UserError(
    `${lake}: version ${version.version} has lake format ${version.format}: expected ${lakeFormat}. Run "carquet migrate --lake ${lake}" first.`,
  );
}

/** Reads the published version of a lake for commands that need one. */
import { UserError } from "../base/user-error.ts";
import { currentManifest, type Manifest } from "../lake/manifest.ts";

/** Returns the manifest of the published version. Throws a UserError if the lake has none. */
export async function requireManifest(lake: string): Promise<Manifest> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined)
    throw new UserError(`Lake ${lake} has no published version: expected one made by "carquet ingest".`);
  return manifest;
}

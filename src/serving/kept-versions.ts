/** The versions of a lake that requests can name: those whose manifest exists, until `vacuum` removes it. */

import { type Refusal, refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import { compareVersions, versionsIn } from "../lake/manifest.ts";

/** Refuses with `version_unavailable` if a version is not kept; `parameter` names where the request has it. */
export async function requireKept(lake: string, version: string, parameter: string): Promise<void> {
  const kept = await versionsIn(lake);
  if (!kept.includes(version)) throw unavailable(version, parameter, [...kept].sort(compareVersions));
}

function unavailable(version: string, parameter: string, kept: readonly string[]): Refusal {
  const [oldest = "none", newest = oldest] = [kept[0], kept.at(-1)];
  return refuse("version_unavailable", { parameter, value: quoted(version), oldest, newest });
}

/** A published version, open without HTTP, and what it answers to paths of the API. */
import type { MeteredId } from "../../src/accounts/policy/prices.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { operations } from "../../src/contract/document.ts";
import { type Endpoint, endpoints } from "../../src/http/endpoints.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { LakeVersion, type LakeVersionOptions } from "../../src/serving/lake-version.ts";
import { atEndOf, type Scope } from "./scope.ts";

/** Opens the published version of a lake until a scope ends. */
export async function versionOf(scope: Scope, lake: string, options: LakeVersionOptions = {}): Promise<LakeVersion> {
  const version = await LakeVersion.open(lake, (await currentManifest(lake))?.version ?? "", options);
  atEndOf(scope, async () => version.close());
  return version;
}

const routes = [...operations.values()].flatMap(({ id, path }) =>
  id === "getUsage" || id === "getDocument" ? [] : [{ pattern: patternOf(path), answer: answering(id) }],
);

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

function answering<Id extends MeteredId>(id: Id) {
  const endpoint: Endpoint<Id> = endpoints[id];
  const decode = decoderOf(id);
  return (version: LakeVersion, query: string, path: Readonly<Record<string, string>>): Promise<string> =>
    endpoint(decode(query, path), version);
}

/** A path without its query, and the query, which may have further question marks. */
export function splitPath(path: string): readonly [place: string, query: string] {
  const [place = "", ...rest] = path.split("?");
  return [place, rest.join("?")];
}

/** The body that a version answers a path with; fails with the refusal of one that it refuses. */
export async function answerOf(version: LakeVersion, path: string): Promise<unknown> {
  const [place, query] = splitPath(path);
  for (const { pattern, answer } of routes) {
    const parts = pattern.exec(place);
    if (parts !== null) return JSON.parse(await answer(version, query, { ...parts.groups }));
  }
  throw new Error(`No operation answers ${path}.`);
}

/** Answers API paths from an open version, without HTTP. */
import { decoderOf } from "../../src/contract/decode.ts";
import { operations } from "../../src/contract/document.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import type { EndpointId } from "../../src/operations/caller.ts";
import { type Endpoint, endpoints, isEndpoint } from "../../src/operations/endpoints.ts";
import { jsonOf } from "../../src/operations/result.ts";
import { LakeVersion, type LakeVersionOptions } from "../../src/serving/lake-version.ts";
import { onScopeEnd, type Scope } from "./scope.ts";

/** Opens the published version of a lake until the scope ends; in one thread, as `startService`. */
export async function openVersion(scope: Scope, lake: string, options: LakeVersionOptions = {}): Promise<LakeVersion> {
  const version = await LakeVersion.open(lake, (await currentManifest(lake))?.version ?? "", {
    threads: 1,
    ...options,
  });
  onScopeEnd(scope, async () => version.close());
  return version;
}

const routes = [...operations.values()].flatMap(({ id, path }) =>
  isEndpoint(id) ? [{ pattern: patternOf(path), answer: answererOf(id) }] : [],
);

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

function answererOf<Id extends EndpointId>(id: Id) {
  const endpoint: Endpoint<Id> = endpoints[id];
  const decode = decoderOf(id);
  return async (version: LakeVersion, query: string, path: Readonly<Record<string, string>>): Promise<string> =>
    jsonOf(await endpoint(decode(query, path), version));
}

/** Splits a path at its first question mark. */
export function splitPath(path: string): readonly [route: string, query: string] {
  const [route = "", ...rest] = path.split("?");
  return [route, rest.join("?")];
}

/** Returns the body that a version answers to a path; throws its refusal. */
export async function answerPath(version: LakeVersion, path: string): Promise<unknown> {
  const [route, query] = splitPath(path);
  for (const { pattern, answer } of routes) {
    const parts = pattern.exec(route);
    if (parts !== null) return JSON.parse(await answer(version, query, { ...parts.groups }));
  }
  throw new Error(`Unknown path ${path}: expected a path of a metered operation.`);
}

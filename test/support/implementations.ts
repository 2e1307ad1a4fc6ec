/**
 * The two implementations that answer from a lake, side by side: the serving files (search index and row store), and the Parquet files.
 * Each fails where it answered from the files of the other.
 */
import assert from "node:assert/strict";
import pino from "pino";
import { errorBody, errors, Refusal } from "../../src/contract/errors.ts";
import type { LakeVersion } from "../../src/serving/lake-version.ts";
import type { Answering, ComparedAnswer } from "../oracle/compare/agree.ts";
import { logged } from "./command-line.ts";
import type { Scope } from "./scope.ts";
import { type Client, serviceOf } from "./service.ts";
import { answerOf, versionOf } from "./versions.ts";

/** Whether each of the two opens serving files. */
const implementations = { "the serving files": true, "the Parquet files": false } as const;

export interface Implementation {
  readonly name: keyof typeof implementations;
  readonly client: Client;
  /** Fails unless every version that was in service was answered from these files, from its first request to the last. */
  confirm(): void;
}

/** Serves a lake twice until a scope ends: from its serving files, and from its Parquet files alone. */
export async function implementationsOf(scope: Scope, lake: string): Promise<readonly Implementation[]> {
  const names = Object.keys(implementations) as (keyof typeof implementations)[];
  return Promise.all(names.map((name) => implementationOf(scope, lake, name)));
}

async function implementationOf(scope: Scope, lake: string, name: Implementation["name"]): Promise<Implementation> {
  const isServed = implementations[name];
  const { logger, opened, fallbacks } = servingLog();
  const client = await serviceOf(scope, lake, { logger, hasServingFiles: isServed });
  const confirm = (): void => {
    const versions = opened();
    assert.ok(versions.length > 0, `${name}: no version came into service`);
    for (const { version, index, rows } of versions)
      assert.deepEqual({ index, rows }, { index: isServed, rows: isServed }, `${name}, ${version}`);
    assert.deepEqual(fallbacks(), [], name);
  };
  return { name, client, confirm };
}

/** A version that came into service, and whether it was searched by the index and its rows came from the row store. */
export interface OpenedVersion {
  readonly version: string;
  readonly index: boolean;
  readonly rows: boolean;
}

/** A logger for a service, and what the service logs of the files that it answers from. */
export function servingLog(): {
  readonly logger: pino.Logger;
  readonly opened: () => readonly OpenedVersion[];
  readonly fallbacks: () => readonly string[];
} {
  const lines: string[] = [];
  const write = (line: string): void => {
    if (/"msg":"(version in service|serving file not in use)"/.test(line)) lines.push(line);
  };
  const of = (message: string) => logged(lines.join("")).filter(({ msg }) => msg === message);
  return {
    logger: pino({ level: "info" }, { write }),
    opened: () =>
      of("version in service").map(({ version, index, rows }) => ({
        version: String(version),
        index: index === true,
        rows: rows === true,
      })),
    fallbacks: () => of("serving file not in use").map(({ message }) => String(message)),
  };
}

/** A published version, opened with its serving files and without them. */
export interface BothVersions {
  readonly served: LakeVersion;
  readonly parquet: LakeVersion;
  /** As `served`, but the engine counts all facets, as it does where very many listings match. */
  readonly counted: LakeVersion;
  /** Fails unless the one still answers from the index and the row store, and the other from neither. */
  confirm(): void;
}

/** Opens the published version of a lake twice until a scope ends; fails unless one has all serving files, and the other none. */
export async function bothVersionsOf(scope: Scope, lake: string): Promise<BothVersions> {
  const fallbacks: string[] = [];
  const served = await versionOf(scope, lake, { onFallback: (message) => fallbacks.push(message) });
  const parquet = await versionOf(scope, lake, { hasServingFiles: false });
  const counted = await versionOf(scope, lake, { fetchedMatches: -1 });
  const confirm = (): void => {
    assert.deepEqual(fallbacks, []);
    assert.deepEqual(served.served, { index: true, rows: true });
    assert.deepEqual(parquet.served, { index: false, rows: false });
  };
  confirm();
  return { served, parquet, counted, confirm };
}

/** Requests to an open version, refusals included. */
export const answersOf = (version: LakeVersion): Answering => ({
  get: (path) => answerTo(path, () => answerOf(version, path)),
});

async function answerTo(path: string, answer: () => Promise<unknown>): Promise<ComparedAnswer> {
  try {
    return { status: 200, body: await answer() };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { status: errors[thrown.code][0], body: errorBody(thrown) };
    throw new Error(`${path}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  }
}

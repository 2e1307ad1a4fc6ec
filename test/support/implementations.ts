/**
 * The two ways in which a lake is answered from, side by side: with serving files (search indexes and row store), whose matches are counted in memory
 * while they are few; and from Parquet files (indexes built in memory, rows read from them), whose matches the engine counts. Each fails if it
 * answered in the other way.
 */
import assert from "node:assert/strict";
import pino from "pino";
import { errorBody, errors, Refusal } from "../../src/contract/errors.ts";
import type { LakeVersion } from "../../src/serving/lake-version.ts";
import type { ApiClient, ComparedAnswer } from "../oracle/compare/oracle.ts";
import { parseLog } from "./command-line.ts";
import { type Client, startService } from "./http/service.ts";
import type { Scope } from "./scope.ts";
import { answerPath, openVersion } from "./versions.ts";

/** How each opens a version. */
const implementations = {
  "the serving files": { hasServingFiles: true },
  "the Parquet files": { hasServingFiles: false, fetchedMatches: -1 },
} as const;

export interface Implementation {
  readonly name: keyof typeof implementations;
  readonly client: Client;
  /** Fails unless every opened version was answered from these files throughout. */
  assertNoFallback(): void;
}

/** Serves a lake twice until the scope ends, once in each way. */
export async function serveBothWays(scope: Scope, lake: string): Promise<readonly Implementation[]> {
  const names = Object.keys(implementations) as (keyof typeof implementations)[];
  return Promise.all(names.map((name) => serveOneWay(scope, lake, name)));
}

async function serveOneWay(scope: Scope, lake: string, name: Implementation["name"]): Promise<Implementation> {
  const { hasServingFiles: isServed } = implementations[name];
  const { logger, opened, fallbacks } = captureServingLog();
  const client = await startService(scope, lake, { logger, ...implementations[name] });
  const assertNoFallback = (): void => {
    const versions = opened();
    assert.ok(versions.length > 0, `${name}: no version came into service`);
    for (const { version, index, rows } of versions)
      assert.deepEqual({ index, rows }, { index: isServed, rows: isServed }, `${name}, ${version}`);
    assert.deepEqual(fallbacks(), [], name);
  };
  return { name, client, assertNoFallback };
}

/** An opened version, and whether it uses the index and the row store. */
export interface OpenedVersion {
  readonly version: string;
  readonly index: boolean;
  readonly rows: boolean;
}

/** Creates a logger for a service that records opened versions and fallbacks. */
export function captureServingLog(): {
  readonly logger: pino.Logger;
  readonly opened: () => readonly OpenedVersion[];
  readonly fallbacks: () => readonly string[];
} {
  const lines: string[] = [];
  const write = (line: string): void => {
    if (/"msg":"(version in service|serving file not in use)"/.test(line)) lines.push(line);
  };
  const entriesWith = (message: string) => parseLog(lines.join("")).filter(({ msg }) => msg === message);
  return {
    logger: pino({ level: "info" }, { write }),
    opened: () =>
      entriesWith("version in service").map(({ version, index, rows }) => ({
        version: String(version),
        index: index === true,
        rows: rows === true,
      })),
    fallbacks: () => entriesWith("serving file not in use").map(({ message }) => String(message)),
  };
}

/** A published version, opened in both ways. */
export interface BothVersions {
  readonly served: LakeVersion;
  readonly parquet: LakeVersion;
  /** Fails if a serving file of `served` failed or `parquet` uses one. */
  assertNoFallback(): void;
}

/** Opens the published version of a lake in both ways, until the scope ends. */
export async function openBothWays(scope: Scope, lake: string): Promise<BothVersions> {
  const fallbacks: string[] = [];
  const served = await openVersion(scope, lake, { onFallback: (message) => fallbacks.push(message) });
  const parquet = await openVersion(scope, lake, implementations["the Parquet files"]);
  const assertNoFallback = (): void => {
    assert.deepEqual(fallbacks, []);
    assert.deepEqual(served.served, { index: true, rows: true });
    assert.deepEqual(parquet.served, { index: false, rows: false });
  };
  assertNoFallback();
  return { served, parquet, assertNoFallback };
}

/** Answers requests from an open version, refusals included. */
export const clientOf = (version: LakeVersion): ApiClient => ({
  get: (path) => answerOrRefusalOf(path, () => answerPath(version, path)),
});

async function answerOrRefusalOf(path: string, answer: () => Promise<unknown>): Promise<ComparedAnswer> {
  try {
    return { status: 200, body: await answer() };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { status: errors[thrown.code][0], body: errorBody(thrown) };
    throw new Error(`${path}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  }
}

/**
 * The two ways in which a lake is answered from, side by side: with the serving files of the publisher (search indexes and row store), and with those that
 * are rebuilt from Parquet files when it opens. Each fails if it answered in the other way.
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

export interface BothWays {
  readonly served: ApiClient;
  readonly parquet: ApiClient;
  /** Fails if a serving file of `served` was not in use, or if `parquet` uses one. */
  assertNoFallback(): void;
}

/** Opens the published version of a lake in both ways, until the scope ends. */
export async function openBothWays(scope: Scope, lake: string): Promise<BothWays> {
  const fallbacks: string[] = [];
  const served = await openVersion(scope, lake, { onRebuild: (message) => fallbacks.push(message) });
  return besideParquet(scope, lake, clientOf(served), () => {
    assert.deepEqual(fallbacks, []);
    assert.deepEqual(served.served, { index: true, rows: true });
  });
}

/** Serves a lake over HTTP from its serving files until the scope ends, and opens it in the other way. */
export async function serveBothWays(scope: Scope, lake: string): Promise<BothWays & { readonly client: Client }> {
  const { logger, opened, fallbacks } = captureServingLog();
  const client = await startService(scope, lake, { logger });
  const both = await besideParquet(scope, lake, client, () => {
    const versions = opened();
    assert.ok(versions.length > 0, "no version came into service");
    for (const { version, index, rows } of versions) assert.ok(index && rows, version);
    assert.deepEqual(fallbacks(), []);
  });
  return { ...both, client };
}

/** Opens a lake without its serving files. */
async function besideParquet(
  scope: Scope,
  lake: string,
  served: ApiClient,
  assertServed: () => void,
): Promise<BothWays> {
  const version = await openVersion(scope, lake, { hasServingFiles: false });
  return {
    served,
    parquet: clientOf(version),
    assertNoFallback: () => {
      assertServed();
      assert.deepEqual(version.served, { index: false, rows: false });
    },
  };
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

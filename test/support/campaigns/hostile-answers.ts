/** Sends hostile requests, each of which must be answered or refused without revealing internals. */
import assert from "node:assert/strict";
import { isObject } from "../../../src/base/json.ts";
import { type ErrorCode, errors } from "../../../src/contract/errors.ts";
import { forEachConcurrently } from "../../oracle/compare/oracle.ts";
import type { Client } from "../http/service.ts";
import type { HostileRequest } from "./hostile-requests.ts";

export interface HostileSummary {
  readonly answered: number;
  readonly refused: number;
}

const internals =
  / {4}at |\.ts\b|node_modules|duckdb|\.parquet|read_parquet|SELECT |FROM |Binder|Parser Error|\{\w+\}|undefined,/;
const messageCharactersMax = 2000;

/** Sends hostile requests; fails with the first that is neither answered nor refused as the document says. */
export async function sendHostileRequests(client: Client, requests: Iterable<HostileRequest>): Promise<HostileSummary> {
  let answered = 0;
  let refused = 0;
  await forEachConcurrently(requests, async ({ path }) => {
    const { status, body } = await client.get(path).catch((thrown: unknown) => assert.fail(excerpt(String(thrown))));
    const what = `${excerpt(path)}: ${status} ${excerpt(JSON.stringify(body))}`;
    if (status === 200) {
      answered += 1;
      return;
    }
    assert.equal(status, 400, what);
    assert.ok(isObject(body) && isObject(body.error), what);
    const { code, message } = body.error;
    assert.equal(errors[code as ErrorCode]?.[0], 400, what);
    assert.ok(typeof message === "string" && message.length <= messageCharactersMax, what);
    assert.doesNotMatch(withoutQuoted(message), internals, what);
    refused += 1;
  });
  return { answered, refused };
}

const excerpt = (text: string): string => text.slice(0, 400);

/** Returns a message without its quotes of the request. */
const withoutQuoted = (message: string): string => message.replaceAll(/"(\\.|[^"\\])*["…]/g, "");

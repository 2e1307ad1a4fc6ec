/** What the service makes of hostile requests: it refuses them or answers them, and tells nothing of its inside. */
import assert from "node:assert/strict";
import { isObject } from "../../../src/base/json.ts";
import { type ErrorCode, errors } from "../../../src/contract/errors.ts";
import { eachOf } from "../../oracle/compare/agree.ts";
import type { Client } from "../service.ts";
import type { HostileRequest } from "./hostile.ts";

export interface Outlasted {
  readonly answered: number;
  readonly refused: number;
}

const insides = / {4}at |\.ts\b|node_modules|duckdb|parquet|SELECT |FROM |Binder|Parser Error|\{\w+\}|undefined,/;
const messageCharactersMost = 2000;

/** Sends hostile requests; fails with the first that is neither answered by the document nor refused in its words. */
export async function outlast(client: Client, requests: Iterable<HostileRequest>): Promise<Outlasted> {
  let [answered, refused] = [0, 0];
  await eachOf(requests, async ({ path }) => {
    const { status, body } = await client.get(path).catch((thrown: unknown) => assert.fail(start(String(thrown))));
    const what = `${start(path)}: ${status} ${start(JSON.stringify(body))}`;
    if (status === 200) {
      answered += 1;
      return;
    }
    assert.equal(status, 400, what);
    assert.ok(isObject(body) && isObject(body.error), what);
    const { code, message } = body.error;
    assert.equal(errors[code as ErrorCode]?.[0], 400, what);
    assert.ok(typeof message === "string" && message.length <= messageCharactersMost, what);
    assert.doesNotMatch(withoutQuoted(message), insides, what);
    refused += 1;
  });
  return { answered, refused };
}

const start = (text: string): string => text.slice(0, 400);

/** A message without what it quotes of the request. */
const withoutQuoted = (message: string): string => message.replaceAll(/"(\\.|[^"\\])*["…]/g, "");

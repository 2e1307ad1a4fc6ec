/** Forms as no browser sends them: too long, abandoned, malformed, repeated, from another origin, and with control characters. */
import assert from "node:assert/strict";
import { request as sendRequest } from "node:http";
import { test } from "node:test";
import pino from "pino";
import { eventually } from "../support/command-line.ts";
import { sendForm } from "../support/http/forms.ts";
import { exchangeRaw } from "../support/http/raw-http.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const log: Readonly<Record<string, unknown>>[] = [];
const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake, { logger });
const { url } = client;
const cookie = `carquet-session=${await client.sessions.create(client.customer.accountId)}`;

/** Sends a form of a size in bytes; in chunks, without its length, if `isChunked`. */
const sendLong = (bytes: number, cookies: Record<string, string>, isChunked: boolean): Promise<Response> => {
  const body = `a=${"1".repeat(bytes)}`;
  const headers = { ...cookies, Origin: url, "Content-Type": "application/x-www-form-urlencoded" };
  const path = cookies.Cookie === undefined ? "/sign-in" : "/dashboard/cap";
  return fetch(`${url}${path}`, {
    ...{ method: "POST", headers },
    ...(isChunked ? { body: new Blob([body]).stream(), duplex: "half" } : { body }),
  });
};

test("a form that is too long is refused, and the service lives", async () => {
  for (const bytes of [20_000, 200_000, 5_000_000])
    for (const cookies of [{}, { Cookie: cookie }])
      for (const isChunked of [false, true]) {
        const answer = await sendLong(bytes, cookies, isChunked);
        assert.deepEqual([answer.status, answer.headers.get("Connection")], [413, "close"], `${bytes} ${isChunked}`);
        assert.match(await answer.text(), /expected at most 16384 bytes/);
      }
  await sendLong(50_000_000, {}, false).catch(() => undefined);
  assert.equal((await fetch(`${url}/sign-in`)).status, 200);
  assert.ok(log.every(({ msg, ip }) => msg !== "request" || ip === "127.0.0.1"));
});

test("a form whose client vanishes is logged as aborted, and one with a malformed body is ended at once", async () => {
  const leaving = sendRequest(`${url}/sign-in`, {
    method: "POST",
    headers: { Origin: url, "Content-Type": "application/x-www-form-urlencoded", "Content-Length": 100 },
  });
  leaving.on("error", () => undefined);
  leaving.write("a=1");
  setTimeout(() => leaving.destroy(), 50);
  await eventually("the request is logged as aborted", async () => log.some(({ aborted }) => aborted === true));
  const head = `POST /sign-in HTTP/1.1\r\nHost: ${new URL(url).host}\r\nOrigin: ${url}\r\n`;
  const chunked = `${head}Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n`;
  for (const parts of [[`${chunked}zz\r\n`], [chunked, "3\r\na=1\r\nzz\r\n"]]) await exchangeRaw(url, ...parts);
  assert.equal((await sendForm(url, "/sign-in", {})).status, 401);
  assert.ok(log.every(({ level }) => Number(level) < 50));
});

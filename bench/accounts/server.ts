/**
 * Serves one fixed page with or without the account middleware of the service, so that the difference is the cost of accounts. The page
 * comes from memory, like an answer from the response cache. Prints `listening on URL`.
 *
 * Usage: `server.ts with|without ACCOUNTS PAGE`.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import compose from "koa-compose";
import pino from "pino";
import { Accounts } from "../../src/accounts/accounts.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import {
  callerOf,
  type Middleware,
  type RequestContext,
  type RequestState,
  setUsageHeaders,
} from "../../src/http/context.ts";
import { handleErrors } from "../../src/http/middleware/handle-errors.ts";
import { identify } from "../../src/http/middleware/identify.ts";
import { logRequests } from "../../src/http/middleware/log-requests.ts";
import { refuseKeyInQuery } from "../../src/http/middleware/refuse-requests.ts";
import { setRateLimitHeaders, setSecurityHeaders } from "../../src/http/middleware/set-headers.ts";
import { systemClock } from "../../src/http/service/system-clock.ts";
import { charge, holdPrice } from "../../src/operations/answer.ts";
import { countCall, requireScope } from "../../src/operations/caller.ts";

const [variant, accountsFile = "", pageFile = ""] = process.argv.slice(2);
const page = readFileSync(pageFile, "utf8");

const decode = decoderOf("searchListings");

const answerWithPage: Middleware = (context) => {
  context.set("Content-Type", "application/json");
  context.body = page;
  context.set("Cache-Control", "private, no-store");
};

const validate: Middleware = (context, next) => {
  decode(context.querystring, {});
  return next();
};

/** Limits, holds and charges a request as the service does. */
const chargeRequest =
  (accounts: Accounts): Middleware =>
  async (context, next) => {
    const caller = callerOf(context);
    requireScope(caller, "searchListings");
    await countCall(accounts, caller);
    const hold = await holdPrice(accounts, "searchListings", caller, decode(context.querystring, {}));
    try {
      setUsageHeaders(context, await charge(accounts, caller, hold), accounts);
      await next();
    } finally {
      hold.release();
    }
  };

async function createPipeline(): Promise<Middleware> {
  if (variant === "without") return compose([refuseKeyInQuery, validate, answerWithPage]);
  const accounts = await Accounts.open(accountsFile, { clock: systemClock });
  return compose<RequestContext>([
    ...[refuseKeyInQuery, identify(accounts), setRateLimitHeaders(accounts), chargeRequest(accounts), answerWithPage],
  ]);
}

const app = new Koa<RequestState>();
const logger = pino({ level: "info" }, pino.destination({ dest: "/dev/null", sync: false }));
app
  .use(logRequests(logger))
  .use(setSecurityHeaders)
  .use(handleErrors)
  .use(await createPipeline());
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
});

/**
 * A search that is answered from memory, served with or without what accounts add: `server.ts with|without ACCOUNTS BODY`. The steps
 * are those of the service; only the answer is at hand already, as one from a cache is.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import compose from "koa-compose";
import pino from "pino";
import { Accounts, type Hold } from "../../src/accounts/accounts.ts";
import type { ChargeRequest, Middleware, PricedMiddleware, RequestState } from "../../src/http/context.ts";
import { charge } from "../../src/http/middleware/charge.ts";
import { handleErrors } from "../../src/http/middleware/handle-errors.ts";
import { holdPrice } from "../../src/http/middleware/hold-price.ts";
import { identify } from "../../src/http/middleware/identify.ts";
import { limitRate, setRateLimitHeaders } from "../../src/http/middleware/limit-rate.ts";
import { logRequests } from "../../src/http/middleware/log-requests.ts";
import { refuseKeyInQuery } from "../../src/http/middleware/refuse-key-in-query.ts";
import { requireScope } from "../../src/http/middleware/require-scope.ts";
import { setSecurityHeaders } from "../../src/http/middleware/security-headers.ts";
import { validate } from "../../src/http/middleware/validate.ts";
import { systemClock } from "../../src/http/system-clock.ts";

const [which, file = "", page = ""] = process.argv.slice(2);
const body = readFileSync(page, "utf8");
const noCharge: ChargeRequest = async () => {};

/** A step that answers from memory, then charges. */
const answerFromMemory =
  (charged: ChargeRequest): PricedMiddleware<"searchListings"> =>
  async (exchange, _request, hold) => {
    await charged(exchange, hold);
    exchange.type = "application/json";
    exchange.body = body;
    exchange.set("Cache-Control", "private, no-store");
  };

const free: Hold = { usageClass: "listing_search", micros: 0, release: () => {} };

async function steps(): Promise<Middleware> {
  if (which === "without") {
    const answer = answerFromMemory(noCharge);
    return compose([
      refuseKeyInQuery,
      validate("searchListings", (exchange, request) => answer(exchange, request, free)),
    ]);
  }
  const accounts = await Accounts.open(file, { clock: systemClock });
  return compose([
    refuseKeyInQuery,
    identify(accounts),
    setRateLimitHeaders(accounts),
    requireScope("searchListings"),
    limitRate(accounts),
    validate("searchListings", holdPrice(accounts, "searchListings", answerFromMemory(charge(accounts)))),
  ]);
}

const app = new Koa<RequestState>();
const logger = pino({ level: "info" }, pino.destination({ dest: "/dev/null", sync: false }));
app
  .use(logRequests(logger))
  .use(setSecurityHeaders)
  .use(handleErrors)
  .use(await steps());
process.once("SIGINT", () => process.exit(0));
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});

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

const [variant, accountsFile = "", pageFile = ""] = process.argv.slice(2);
const page = readFileSync(pageFile, "utf8");

/** Charges the request, then answers with the page. */
const answerWithPage =
  (chargeRequest: ChargeRequest): PricedMiddleware<"searchListings"> =>
  async (context, _request, hold) => {
    await chargeRequest(context, hold);
    context.set("Content-Type", "application/json");
    context.body = page;
    context.set("Cache-Control", "private, no-store");
  };

const chargeNothing: ChargeRequest = async () => {};
const emptyHold: Hold = { usageClass: "listing_search", micros: 0, release: () => {} };

async function createPipeline(): Promise<Middleware> {
  if (variant === "without") {
    const answer = answerWithPage(chargeNothing);
    return compose([
      refuseKeyInQuery,
      validate("searchListings", (context, request) => answer(context, request, emptyHold)),
    ]);
  }
  const accounts = await Accounts.open(accountsFile, { clock: systemClock });
  return compose([
    refuseKeyInQuery,
    identify(accounts),
    setRateLimitHeaders(accounts),
    requireScope("searchListings"),
    limitRate(accounts),
    validate("searchListings", holdPrice(accounts, "searchListings", answerWithPage(charge(accounts)))),
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

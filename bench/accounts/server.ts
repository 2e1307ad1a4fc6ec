/**
 * A search that is answered from memory, served with or without what accounts add: `server.ts with|without ACCOUNTS BODY`. The steps
 * are those of the service; only the answer is at hand already, as one from a cache is.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import compose from "koa-compose";
import pino from "pino";
import { Accounts } from "../../src/accounts/accounts.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import type { RequestOf } from "../../src/contract/types.ts";
import { charge } from "../../src/http/charge.ts";
import { systemClock } from "../../src/http/clock.ts";
import type { Exchange, State, Step } from "../../src/http/exchange.ts";
import { explain } from "../../src/http/explain.ts";
import { holdPrice } from "../../src/http/hold-price.ts";
import { identify } from "../../src/http/identify.ts";
import { limitRate, tellLimits } from "../../src/http/limit-rate.ts";
import { logRequests } from "../../src/http/log.ts";
import { permit } from "../../src/http/permit.ts";
import { refuseKeyInQuery } from "../../src/http/refuse-key-in-query.ts";
import { secure } from "../../src/http/secure.ts";

const [which, file = "", page = ""] = process.argv.slice(2);
const body = readFileSync(page, "utf8");
const requests = new WeakMap<Exchange, RequestOf<"searchListings">>();
const decode = decoderOf("searchListings");

const validate: Step = async (exchange, next) => {
  requests.set(exchange, decode(exchange.querystring, {}));
  await next();
};

const answerFromMemory: Step = async (exchange, next) => {
  exchange.type = "application/json";
  exchange.body = body;
  exchange.set("Cache-Control", "private, no-store");
  await next();
};

async function steps(): Promise<Step> {
  if (which === "without") return compose([refuseKeyInQuery, validate, answerFromMemory]);
  const accounts = await Accounts.open(file, { clock: systemClock });
  return compose([
    refuseKeyInQuery,
    identify(accounts),
    tellLimits(accounts),
    permit("searchListings"),
    limitRate(accounts),
    validate,
    holdPrice(accounts, "searchListings", requests),
    answerFromMemory,
    charge(accounts),
  ]);
}

const app = new Koa<State>();
const logger = pino({ level: "info" }, pino.destination({ dest: "/dev/null", sync: false }));
app
  .use(logRequests(logger))
  .use(secure)
  .use(explain)
  .use(await steps());
process.once("SIGINT", () => process.exit(0));
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});

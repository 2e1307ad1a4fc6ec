/** Child process that serves with the given durability: `service.ts LAKE ACCOUNTS interval|each`. */
import pino from "pino";
import { serve } from "../../../src/http/server.ts";

const [lake = "", accounts = "", mode] = process.argv.slice(2);
const chargeFlush = mode === "each" ? "each" : "interval";
const logger = pino({ level: "silent" });
const service = await serve({ lake, accounts, host: "127.0.0.1", port: 0, logger, chargeFlush });
process.stdout.write(`listening on ${service.url}\n`);

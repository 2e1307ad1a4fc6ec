/** Child process that serves with the given durability: `service.ts LAKE ACCOUNTS FULL|NORMAL`. */
import pino from "pino";
import { serve } from "../../../src/http/server.ts";

const [lake = "", accounts = "", level] = process.argv.slice(2);
const synchronous = level === "NORMAL" ? "NORMAL" : "FULL";
const logger = pino({ level: "silent" });
const service = await serve({ lake, accounts, host: "127.0.0.1", port: 0, logger, synchronous });
process.stdout.write(`listening on ${service.url}\n`);

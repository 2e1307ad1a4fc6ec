/** The service in a process of its own, with a ledger that waits for the disk as it is told: `service.ts LAKE ACCOUNTS FULL|NORMAL`. */
import pino from "pino";
import { serve } from "../../../src/http/server.ts";

const [lake = "", accounts = "", level] = process.argv.slice(2);
const synchronous = level === "NORMAL" ? "NORMAL" : "FULL";
const logger = pino({ level: "silent" });
const service = await serve({ lake, accounts, host: "127.0.0.1", port: 0, logger, synchronous });
process.stdout.write(`listening on ${service.url}\n`);

/** Child program: ingests a folder of days into a lake. Arguments: the lake, the folder, and after how many milliseconds days are published. */
import { ingestPath } from "../lakes/lakes.ts";

const [, , lake = "", folder = "", batchMs = ""] = process.argv;
await ingestPath(lake, folder, { batchMs: Number(batchMs), onStep: () => void process.stdout.write(".") });

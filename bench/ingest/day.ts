/** Ingests one day in a process of its own, so that the memory measured is its own: `day.ts FEEDS DAY LAKE [MEMORY]`; prints JSON. */
import { deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";

const [feeds = "", day = "", lake = "", memoryLimit] = process.argv.slice(2);
const steps: { what: string; seconds: number }[] = [];
const startedAtMs = performance.now();
let lastMs = startedAtMs;
let running = "";
const told = (what: string): void => {
  const nowMs = performance.now();
  if (running !== "") steps.push({ what: running, seconds: (nowMs - lastMs) / 1000 });
  [lastMs, running] = [nowMs, what];
};
const [account] = await ingest(lake, await deliveriesAt(feeds, day), {
  ...(memoryLimit === undefined ? {} : { memoryLimit }),
  onStep: (_day, _step, _steps, what) => told(what),
});
told("");
const seconds = (performance.now() - startedAtMs) / 1000;
const peakGib = process.resourceUsage().maxRSS / 1024 / 1024;
process.stdout.write(`${JSON.stringify({ rows: account?.rows, seconds, peakGib, steps })}\n`);

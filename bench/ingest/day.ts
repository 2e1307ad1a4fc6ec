/**
 * Ingests one day in its own process, so that its peak memory can be measured, and prints the time of each step as JSON.
 *
 * Usage: `day.ts FEEDS DAY LAKE [MEMORY]`.
 */
import { deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";

const [feeds = "", day = "", lake = "", memoryLimit] = process.argv.slice(2);
const steps: { name: string; seconds: number }[] = [];
const startedAtMs = performance.now();
let stepStartedAtMs = startedAtMs;
let currentStep = "";

/** Records the duration of the current step when another one begins. Ingestion reports long steps repeatedly. "" ends the last step. */
const beginStep = (name: string): void => {
  if (name === currentStep) return;
  const nowMs = performance.now();
  if (currentStep !== "") steps.push({ name: currentStep, seconds: (nowMs - stepStartedAtMs) / 1000 });
  stepStartedAtMs = nowMs;
  currentStep = name;
};

const [report] = await ingest(lake, await deliveriesAt(feeds, day), {
  ...(memoryLimit === undefined ? {} : { memoryLimit }),
  onStep: (_day, _step, _steps, name) => beginStep(name),
});
beginStep("");
const seconds = (performance.now() - startedAtMs) / 1000;
const peakGib = process.resourceUsage().maxRSS / 1024 / 1024;
process.stdout.write(`${JSON.stringify({ rows: report?.rows, seconds, peakGib, steps })}\n`);

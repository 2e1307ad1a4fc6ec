/**
 * How long requests hold up the event loop: `node --import tsx bench/event-loop/run.ts --lake DIR [--requests 400]`.
 *
 * A service that keeps no answers is asked one request after another, metered, each kind several times in turn. Told is the processor
 * time of its main thread for one of them, as Linux counts it: reading, decoding, validating, planning, serving, metering, logging, writing.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { keepingNoAnswers, keyIn, openInProcess, start } from "../carquet.ts";
import { rounded, timingOf } from "../measure.ts";

const { values } = parseArgs({ options: { lake: { type: "string" }, requests: { type: "string", default: "400" } } });
const requests = Number(values.requests);
const rounds = 20;
const kinds: Readonly<Record<string, (number: number) => string>> = {
  "a page of fifty": (number) => `/v1/listings?sort=price&offset=${number}`,
  "a page of fifty, filtered": (number) => `/v1/listings?make=Ford,Toyota&state=CA&max_price=${20_000 + number}`,
  "a page of fifty, with all that can be added": (number) =>
    `/v1/listings?fields=default,features,options_packages&include=price_history,options&offset=${number}`,
  "a page of one": (number) => `/v1/listings?limit=1&sort=price&offset=${number}`,
  "facets of a sidebar": (number) =>
    `/v1/facets?facets=make,model,year,body_type,price,miles&max_price=${20_000 + number}`,
};

const lake = values.lake ?? "data/lake";
await (await openInProcess(lake)).close();
const scratch = await mkdtemp(join(tmpdir(), "carquet-event-loop-"));
const accounts = join(scratch, "accounts.db");
const serving = ["serve", "--lake", lake, "--accounts", accounts, "--port", "0"];
const service = await start("src/main.ts", [...serving, ...keepingNoAnswers], keyIn(accounts));
try {
  // The copies are there; the service takes them when it has begun to listen.
  await pause(5000);
  const taken = new Map<string, number[]>();
  let number = 0;
  for (let round = 0; round <= rounds; round += 1) {
    for (const [kind, pathOf] of Object.entries(kinds)) {
      const before = service.eventLoopMs();
      for (let asked = 0; asked < requests / rounds; asked += 1) {
        number += 1;
        await service.fetch(pathOf(number));
      }
      const tookMs = (service.eventLoopMs() - before) / (requests / rounds);
      if (round > 0) taken.set(kind, [...(taken.get(kind) ?? []), tookMs]);
    }
  }
  for (const [kind, times] of taken) process.stdout.write(`${kind}: ${rounded(timingOf(times).p50_ms)} ms\n`);
} finally {
  await service.stop();
  await rm(scratch, { recursive: true });
}

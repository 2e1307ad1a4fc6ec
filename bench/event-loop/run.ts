/**
 * Processor time of a metered request: `node --import tsx bench/event-loop/run.ts --lake DIR [--requests 400]`.
 *
 * A service without a response cache gets one request after another, each kind several times in turn. Prints for each kind the median
 * processor time of a request as Linux counts it: of the main thread, which runs the event loop, and of the whole process.
 * Latencies are not printed: they depend on what else the machine does.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { AnswerOf } from "../../src/contract/types.ts";
import { quantile, rounded } from "../measure/measure.ts";
import { keepingNoAnswers, keyIn, openInProcess, start } from "../servers/carquet.ts";
import type { ThreadTimes } from "../servers/process.ts";

const { values } = parseArgs({ options: { lake: { type: "string" }, requests: { type: "string", default: "400" } } });
const requests = Number(values.requests);
const rounds = 20;
const lake = values.lake ?? "data/lake";
const vins = await activeVins(lake, 1000);
const kinds: Readonly<Record<string, (number: number) => string>> = {
  "a look-up of a VIN": (number) => `/v1/vins/${vins[(number * 37) % vins.length]}`,
  "a page of fifty": (number) => `/v1/listings?sort=price&offset=${number}`,
  "a page of fifty, filtered": (number) => `/v1/listings?make=Ford,Toyota&state=CA&max_price=${20_000 + number}`,
  "a page of fifty, with all that can be added": (number) =>
    `/v1/listings?fields=default,features,options_packages&include=price_history,options&offset=${number}`,
  "a page of one": (number) => `/v1/listings?limit=1&sort=price&offset=${number}`,
  "facets of a sidebar": (number) =>
    `/v1/facets?facets=make,model,year,body_type,price,miles&max_price=${20_000 + number}`,
};

const scratch = await mkdtemp(join(tmpdir(), "carquet-event-loop-"));
const accounts = join(scratch, "accounts.db");
const serving = ["serve", "--lake", lake, "--accounts", accounts, "--port", "0"];
const service = await start("src/main.ts", [...serving, ...keepingNoAnswers], keyIn(accounts));
try {
  const taken = new Map<string, Record<keyof ThreadTimes, number>[]>();
  let number = 0;
  for (let round = 0; round <= rounds; round += 1) {
    for (const [kind, pathOf] of Object.entries(kinds)) {
      const before = service.threadMs();
      for (let asked = 0; asked < requests / rounds; asked += 1) {
        number += 1;
        await service.fetch(pathOf(number));
      }
      const after = service.threadMs();
      const each = (thread: keyof ThreadTimes): number => ((after[thread] - before[thread]) * rounds) / requests;
      const times = { main: each("main"), process: each("process") };
      if (round > 0) taken.set(kind, [...(taken.get(kind) ?? []), times]);
    }
  }
  for (const [kind, times] of taken) {
    const of = (thread: keyof ThreadTimes): number =>
      rounded(
        quantile(
          times.map((one) => one[thread]),
          0.5,
        ),
      );
    process.stdout.write(`${kind}: main ${of("main")} ms, process ${of("process")} ms\n`);
  }
} finally {
  await service.stop();
  await rm(scratch, { recursive: true });
}

/** VINs of active listings. */
async function activeVins(folder: string, count: number): Promise<readonly string[]> {
  const version = await openInProcess(folder);
  try {
    const pages = Array.from({ length: count / 100 }, (_, page) =>
      version.fetch(`/v1/listings?fields=vin&sort=price&limit=100&offset=${page * 100}`),
    );
    return (await Promise.all(pages)).flatMap((page) => {
      const { data }: AnswerOf<"searchListings"> = JSON.parse(page);
      return data.flatMap(({ vin }) => (vin === undefined ? [] : [vin]));
    });
  } finally {
    await version.close();
  }
}

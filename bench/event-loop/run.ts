/**
 * Measures the processor time of a metered request: `node --import tsx/esm bench/event-loop/run.ts [--lake DIR] [--requests 400] [--json FILE]`.
 *
 * Sends one request at a time to a service without a response cache, in rounds of all kinds of requests. Prints the median processor time
 * of each kind, of the main thread (which runs the event loop) and of the whole process. Needs Linux. Latencies are not printed, because
 * they depend on other load of the machine.
 */
import { parseArgs } from "node:util";
import type { AnswerOf } from "../../src/contract/types.ts";
import { quantile } from "../measure/timing.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured } from "../report/results.ts";
import { withResources } from "../resources.ts";
import { openInProcess, type ScriptServer, serveLake } from "../servers/carquet.ts";
import type { ThreadTimes } from "../servers/process.ts";

const { values } = parseArgs({
  options: {
    lake: { type: "string", default: "data/lake" },
    requests: { type: "string", default: "400" },
    json: { type: "string" },
  },
});
const requests = Number(values.requests);
const rounds = 20;
const vins = await activeVins(values.lake, 1000);

/** Request paths by kind. The sequence number distinguishes all requests. */
const requestKinds: Readonly<Record<string, (sequence: number) => string>> = {
  "look-up by VIN": (sequence) => `/v1/vins/${vins[(sequence * 37) % vins.length]}`,
  "page of 50": (sequence) => `/v1/listings?sort=price&offset=${sequence}`,
  "page of 50, filtered": (sequence) => `/v1/listings?make=Ford,Toyota&state=CA&max_price=${20_000 + sequence}`,
  "page of 50, all fields and expansions": (sequence) =>
    `/v1/listings?fields=default,features,options_packages&include=price_history,options&offset=${sequence}`,
  "page of 1": (sequence) => `/v1/listings?limit=1&sort=price&offset=${sequence}`,
  "sidebar facets": (sequence) =>
    `/v1/facets?facets=make,model,year,body_type,price,miles&max_price=${20_000 + sequence}`,
};

await withResources(async (acquire) => {
  const measurements: Measurement[] = [];
  for (const [kind, times] of await measureKinds(await serveLake(acquire, values.lake))) {
    const median = (thread: keyof ThreadTimes): number =>
      quantile(
        times.map((time) => time[thread]),
        0.5,
      );
    measurements.push(...measured(kind, "main thread", { "processor ms": median("main") }));
    measurements.push(...measured(kind, "process", { "processor ms": median("process") }));
  }
  await reportMeasurements({ title: "Processor time of a metered request" }, measurements, values.json);
});

/** Returns the processor times per request of each round, by kind. The first round is a warm-up and is dropped. */
async function measureKinds(service: ScriptServer): Promise<ReadonlyMap<string, readonly ThreadTimes[]>> {
  const timesByKind = new Map<string, ThreadTimes[]>();
  const requestsPerRound = requests / rounds;
  let sequence = 0;
  for (let round = 0; round <= rounds; round += 1) {
    for (const [kind, pathOf] of Object.entries(requestKinds)) {
      const before = service.threadMs();
      for (let sent = 0; sent < requestsPerRound; sent += 1) {
        sequence += 1;
        await service.fetch(pathOf(sequence));
      }
      const after = service.threadMs();
      const times = {
        main: (after.main - before.main) / requestsPerRound,
        process: (after.process - before.process) / requestsPerRound,
      };
      if (round > 0) timesByKind.set(kind, [...(timesByKind.get(kind) ?? []), times]);
    }
  }
  return timesByKind;
}

/** Returns the VINs of the `count` cheapest active listings; `count` is a multiple of 100. */
async function activeVins(lake: string, count: number): Promise<readonly string[]> {
  const carquet = await openInProcess(lake);
  try {
    const pages = Array.from({ length: count / 100 }, (_, page) =>
      carquet.fetch(`/v1/listings?fields=vin&sort=price&limit=100&offset=${page * 100}`),
    );
    return (await Promise.all(pages)).flatMap((page) => {
      const { data }: AnswerOf<"searchListings"> = JSON.parse(page);
      return data.flatMap(({ vin }) => (vin === undefined ? [] : [vin]));
    });
  } finally {
    await carquet.close();
  }
}

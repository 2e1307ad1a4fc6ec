/**
 * One account sends the most expensive requests that the document allows, over many connections without a pause, and abandons some of
 * them, while another account sends light requests. Times are reported; only answers, charges and the deadline are checked.
 */
import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { audit } from "../../../src/accounts/ledger/audit.ts";
import { integerIn } from "../../../src/base/json.ts";
import { vocabulary } from "../../../src/contract/document.ts";
import { sql } from "../../../src/db/sql.ts";
import { requestDeadlineMs } from "../../../src/operations/caller.ts";
import { type Customer, inAccountsFile } from "../accounts.ts";
import { Chance } from "../chance.ts";

export interface FairnessOptions {
  readonly url: string;
  /** Path of the accounts file. */
  readonly accounts: string;
  readonly attacker: Customer;
  readonly quiet: Customer;
  /** Number of light requests, sent one after the other: as many before the attack as during it. */
  readonly lightRequests: number;
  readonly pauseMs: number;
  readonly connections: number;
  readonly seed: number;
  /** A past day with a snapshot. */
  readonly pastDay: string;
}

/** Response times in milliseconds, sorted. */
type Times = readonly number[];

export interface FairnessSummary {
  readonly idle: Times;
  readonly attacked: Times;
  /** Responses to the attacker by status; `abandoned` without one. */
  readonly attack: Readonly<Record<string, number>>;
  /** Response times of the attacker's requests that were not abandoned. */
  readonly attackTimes: Times;
}

interface Received {
  readonly status: number | "abandoned";
  readonly body: string;
  readonly ms: number;
}

/** Returns a percentile of sorted times. */
export const timeAt = (times: Times, share: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;

/** Sends a request; destroys it after `abandonMs`. */
function send(url: string, agent: Agent, headers: Customer["bearer"], abandonMs?: number): Promise<Received> {
  const startedAtMs = performance.now();
  return new Promise((resolve) => {
    const settle = (status: Received["status"], body = ""): void =>
      resolve({ status, body, ms: performance.now() - startedAtMs });
    const request = get(url, { agent, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => settle(response.statusCode ?? 0, body));
      response.on("error", () => settle("abandoned"));
    });
    request.on("error", () => settle("abandoned"));
    if (abandonMs !== undefined) setTimeout(() => request.destroy(), abandonMs).unref();
  });
}

const facets = vocabulary("getFacets", "facets");
const words = (prefix: string, count = 100): string => Array.from({ length: count }, (_, n) => `${prefix}${n}`).join();
const masks = Array.from("ABCDEFGHJK", (letter) => `????????${letter}*`).join();

/** Returns the most expensive requests of each operation; a different price bound in each causes a cache miss. */
export const expensiveRequests = (past: string, bound: string): readonly string[] => [
  `/v1/facets?facets=${facets.join()}&facet_value_limit=100&${bound}`,
  `/v1/facets?facets=${facets.join()}&facet_value_limit=100&${bound}&snapshot_date=${past}`,
  `/v1/facets?facets=${facets.join()}&facet_value_limit=100&${bound}&inventory_status=sold`,
  `/v1/facets?facets=features,price,msrp,miles,days_on_market&metric=price.p95&facet_value_limit=100&${bound}&snapshot_date=${past}`,
  `/v1/facets?facets=options_packages&metric=miles.p95&facet_value_limit=100&${bound}`,
  `/v1/facets?facets=state&metric=price.p95&${bound}&exclude_features=${words("f")}&exclude_trim=${words("t")}`,
  `/v1/listings?limit=100&offset=200000&${bound}&vin_pattern=${masks}&snapshot_date=${past}&sort=-price`,
  `/v1/listings?limit=100&offset=200000&${bound}&sort=distance&postal_code=10001`,
  `/v1/listings?limit=100&${bound}&exclude_model=${words("m")}&exclude_features=${words("f")}&exclude_options_packages=${words("o")}&snapshot_date=${past}`,
  `/v1/dealers?limit=100&make=${words("m")}&country=${words("c")}&q=${words("a", 30).replaceAll(",", "+").slice(0, 190)}`,
];

/** Sends attacks over one connection until `isOver`; abandons a third of them after 50 ms. */
async function attackUntil(
  isOver: () => boolean,
  { url, attacker, pastDay }: FairnessOptions,
  chance: Chance,
  received: Received[],
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!isOver()) {
    const path = chance.pick(expensiveRequests(pastDay, `min_price=${chance.integer(1, 5000)}`));
    received.push(await send(`${url}${path}`, agent, attacker.bearer, chance.happens(1 / 3) ? 50 : undefined));
    // Do not spin on refusals.
    if (received.at(-1)?.status === 429) await sleep(5);
  }
  agent.destroy();
}

const sorted = (received: readonly Received[]): Times => received.map(({ ms }) => ms).sort((a, b) => a - b);

/** Sends a light request for each VIN, one after the other: look-ups and pages in turn, none of which is cached. */
async function sendLight(
  { url, quiet, pauseMs }: FairnessOptions,
  vins: readonly string[],
): Promise<readonly Received[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const received: Received[] = [];
  for (const [count, vin] of vins.entries()) {
    const path = count % 2 === 0 ? `/v1/vins/${vin}` : `/v1/listings?limit=20&vin_pattern=${vin}`;
    received.push(await send(`${url}${path}`, agent, quiet.bearer));
    await sleep(pauseMs);
  }
  agent.destroy();
  return received;
}

/** Returns VINs of active listings, 100 for each request. */
async function readVins({ url, quiet }: FairnessOptions, pages: number): Promise<readonly string[]> {
  const agent = new Agent();
  const vins: string[] = [];
  for (let page = 0; page < pages; page += 1) {
    const { body } = await send(`${url}/v1/listings?limit=100&offset=${page * 100}&fields=vin`, agent, quiet.bearer);
    const { data }: { readonly data: readonly { readonly vin: string }[] } = JSON.parse(body);
    vins.push(...data.map(({ vin }) => vin));
  }
  return vins;
}

const pagesFor = ({ lightRequests }: FairnessOptions): number => Math.ceil((2 * lightRequests) / 100);

const chargesTo = (accounts: string, { accountId }: Customer): Promise<number> =>
  inAccountsFile(accounts, async (database) =>
    integerIn(
      (
        await database.all(
          sql`SELECT count(*) AS n FROM entries JOIN prices USING (price) WHERE account_id = ${accountId}`,
        )
      )[0],
      "n",
    ),
  );

/** An answer at the deadline may be sent this much later, on a busy machine. */
const lateMs = 5_000;

function assertAnswered(light: readonly Received[], attack: readonly Received[]): void {
  for (const { status, body } of light) assert.equal(status, 200, body.slice(0, 400));
  for (const { status, body, ms } of attack) {
    assert.ok(["abandoned", 200, 429, 503, 504].includes(status), `${status} ${body.slice(0, 400)}`);
    assert.ok(ms < requestDeadlineMs + lateMs, `${status} after ${ms} ms`);
  }
}

/** Every answered request is charged once; an abandoned one may have been charged before its client left. */
async function assertCharges(options: FairnessOptions, light: number, attack: readonly Received[]): Promise<void> {
  const { accounts, attacker, quiet } = options;
  assert.equal(await chargesTo(accounts, quiet), pagesFor(options) + light);
  const charged = await chargesTo(accounts, attacker);
  const answered = attack.filter(({ status }) => status === 200).length;
  const abandoned = attack.filter(({ status }) => status === "abandoned").length;
  assert.ok(charged >= answered && charged <= answered + abandoned, `${charged} charges, ${answered} answers`);
  assert.deepEqual((await inAccountsFile(accounts, audit)).faults, []);
}

/** Times light requests before and during the attack. Fails if one of them is not answered, or if a charge or the deadline is wrong. */
export async function attackFairness(options: FairnessOptions): Promise<FairnessSummary> {
  const { lightRequests } = options;
  const vins = await readVins(options, pagesFor(options));
  const idle = await sendLight(options, vins.slice(0, lightRequests));
  let isOver = false;
  const attack: Received[] = [];
  const chance = new Chance(options.seed);
  const connections = Array.from({ length: options.connections }, () =>
    attackUntil(() => isOver, options, new Chance(chance.integer(0, 2 ** 31)), attack),
  );
  await sleep(options.pauseMs);
  const attacked = await sendLight(options, vins.slice(lightRequests, 2 * lightRequests));
  isOver = true;
  await Promise.all(connections);
  const counts: Record<string, number> = {};
  for (const { status } of attack) counts[status] = (counts[status] ?? 0) + 1;
  assertAnswered([...idle, ...attacked], attack);
  await assertCharges(options, idle.length + attacked.length, attack);
  const answered = attack.filter(({ status }) => status !== "abandoned");
  return { idle: sorted(idle), attacked: sorted(attacked), attack: counts, attackTimes: sorted(answered) };
}

/** Clients that pay for requests to a service, and the comparison of their answers with the ledger. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { audit } from "../../../src/accounts/ledger/audit.ts";
import { integerIn, textIn } from "../../../src/base/json.ts";
import { sql } from "../../../src/db/sql.ts";
import { type Customer, inAccountsFile } from "../accounts.ts";
import type { Chance } from "../chance.ts";

/** The outcome of a request. */
export interface RequestOutcome {
  readonly customer: Customer;
  readonly path: string;
  /** Undefined if no complete answer was received. */
  readonly status: number | undefined;
  /** The id of its charge. */
  readonly requestId: string;
  readonly micros: number;
  /** The error, or the body of an answer other than 200. */
  readonly reason: string;
}

const search = "/v1/listings?limit=1&fields=id";
/** Requests of different operations and prices, over the sample deliveries. */
const paths = [
  search,
  "/v1/listings?limit=2&sort=-price&exclude_make=ford",
  "/v1/listings?limit=1&fields=id&dealer_id=0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40",
  "/v1/facets?facets=make,price",
  "/v1/dealers/b4a2f95e-1d73-4e88-a6c0-7f3e19d85b02",
] as const;

export interface PayingClientOptions {
  readonly url: string;
  readonly clients: number;
  readonly customers: readonly Customer[];
  readonly chance: Chance;
  /** The pause of a client after an answer, and after a failure. */
  readonly pauseMs: number;
  /** Send only searches of one price, each once; all kinds of requests by default. */
  readonly onlySearches?: boolean;
}

export class PayingClients {
  readonly outcomes: RequestOutcome[] = [];
  private isOver = false;
  private readonly loops: readonly Promise<void>[];

  /** Starts clients, each with a connection that is kept open, until `stop`. */
  constructor(private readonly options: PayingClientOptions) {
    this.loops = Array.from({ length: options.clients }, () => this.run());
  }

  /** The number of clients, each with one request in flight. */
  get count(): number {
    return this.options.clients;
  }

  /** Stops the clients; resolves when all requests are answered. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.loops);
  }

  /** Sends a request that is not one of a client's, for example to one replica. */
  async send(url: string, customer: Customer, agent?: Agent): Promise<RequestOutcome> {
    const outcome = await getAs(customer, `${url}${search}`, agent);
    this.outcomes.push(outcome);
    return outcome;
  }

  private async run(): Promise<void> {
    const { url, customers, chance, pauseMs, onlySearches = false } = this.options;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.isOver) {
      const customer = chance.pick(customers);
      const path = `${url}${onlySearches ? search : chance.pick(paths)}`;
      const idempotencyKey = !onlySearches && chance.happens(0.1) ? randomUUID() : undefined;
      // A request with an idempotency key is sent twice, and charged once.
      for (let time = 0; time < (idempotencyKey === undefined ? 1 : 2); time += 1)
        this.outcomes.push(await getAs(customer, path, agent, idempotencyKey));
      await pause(pauseMs);
    }
    agent.destroy();
  }
}

/** Sends a request. */
function getAs(customer: Customer, url: string, agent?: Agent, idempotencyKey?: string): Promise<RequestOutcome> {
  const headers = {
    ...customer.bearer,
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
  };
  const unknown = { customer, path: url, status: undefined, requestId: "", micros: 0 };
  return new Promise((answered) => {
    const failed = (error: Error): void => answered({ ...unknown, reason: error.message });
    get(url, { headers, ...(agent === undefined ? {} : { agent }) }, (response) => {
      const { statusCode: status, headers: received } = response;
      const requestId = String(received["x-request-id"]);
      const micros = Number(received["x-usage-cost-micros"] ?? 0);
      const done = (body: string): void =>
        answered({ customer, path: url, status, requestId, micros, reason: status === 200 ? "" : body });
      text(response).then(done, failed);
    }).once("error", failed);
  });
}

export interface LedgerComparison {
  /** Requests whose charges are not those that their answers name. */
  readonly differences: readonly string[];
  /** Charged requests that got 503, because it was not known whether they were charged. */
  readonly undecided: readonly string[];
  /** Charges, without refunded ones, whose answers no client has received. */
  readonly unanswered: number;
}

/** Compares outcomes with the ledger: each answer is charged once, and nothing that was refused, unless it was not known. Fails if the ledger's audit does. */
export async function compareWithLedger(
  location: string,
  outcomes: readonly RequestOutcome[],
): Promise<LedgerComparison> {
  const [faults, rows] = await inAccountsFile(location, async (database) => [
    (await audit(database)).faults,
    await database.all(
      sql`SELECT entry_id, account_id, kind, micros, reference FROM entries WHERE kind IN ('charge', 'adjustment')`,
    ),
  ]);
  assert.deepEqual(faults, []);
  const refunded = new Set(
    rows.flatMap((row) => (row.kind === "adjustment" ? [textIn(row, "reference").replace("refund_", "")] : [])),
  );
  const charges = new Map<string, string>();
  for (const row of rows) {
    const id = textIn(row, "entry_id");
    if (row.kind !== "charge" || refunded.has(id)) continue;
    charges.set(id, `${textIn(row, "account_id")} ${-integerIn(row, "micros")}`);
  }
  const answered = outcomes.filter(({ status }) => status !== undefined);
  const isUndecided = ({ status, requestId }: RequestOutcome): boolean => status === 503 && charges.has(requestId);
  const decided = answered.filter((outcome) => !isUndecided(outcome));
  const differences = decided.flatMap(({ customer, status, requestId, micros }) => {
    const expected = status === 200 && micros > 0 ? `${customer.accountId} ${micros}` : undefined;
    const found = charges.get(requestId);
    return found === expected ? [] : [`${requestId} (${status}): charged ${found}, expected ${expected}`];
  });
  const paid = new Set(answered.filter(({ status }) => status === 200).map(({ requestId }) => requestId));
  const undecided = answered.filter(isUndecided).map(({ requestId }) => requestId);
  return { differences, undecided, unanswered: [...charges.keys()].filter((id) => !paid.has(id)).length };
}

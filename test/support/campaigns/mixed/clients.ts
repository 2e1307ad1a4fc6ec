/** The clients of the mixed load, each of which sends requests until the load is over. */
import { Agent } from "node:http";
import type { Chance } from "../../chance.ts";
import type { ClientIdentity, Journal } from "./journal.ts";
import { nonces, withNonce } from "./nonce.ts";
import type { CheckedRequest } from "./prepared-lake.ts";
import type { RequestForm } from "./request-forms.ts";
import { atRate, type Reply, sendRequest } from "./send.ts";

/** The roles of the clients. */
export const roles = ["well-behaved", "attacking", "leaving", "repeating"] as const;
export type Role = (typeof roles)[number];

export interface ClientOptions {
  readonly url: string;
  readonly requests: readonly CheckedRequest[];
  readonly journal: Journal;
  readonly chance: Chance;
  readonly isOver: () => boolean;
  /** Called with each complete response and its client. */
  readonly onReply: (reply: Reply, client: ClientIdentity) => void;
}

/** Requests a second of a well-behaved, a leaving and a repeating client. */
const rates: Readonly<Record<Exclude<Role, "attacking">, number>> = { "well-behaved": 5, leaving: 4, repeating: 1 };

/** The longest times after which a client leaves: during the arrival of a request, its work or its response. */
const abortMsMax = [2, 20, 400];
/** The most requests with one idempotency key, and the probability that one is abandoned. */
const repetitionsMax = 4;
const abandonedShare = 0.3;

/** One client: an account with its connections. */
export class LoadClient {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly requests: Readonly<Record<RequestForm["weight"], readonly CheckedRequest[]>>;
  private keys = 0;

  constructor(
    private readonly client: ClientIdentity<Role>,
    private readonly options: ClientOptions,
  ) {
    const { requests } = options;
    const weighing = (weight: RequestForm["weight"]) => requests.filter(({ form }) => form.weight === weight);
    this.requests = { light: weighing("light"), medium: weighing("medium"), worst: weighing("worst") };
  }

  /** Sends at the rate of the role; `attacksPerSecond` is that of an attacking client. */
  async run(attacksPerSecond: number): Promise<void> {
    const { role } = this.client;
    const { isOver } = this.options;
    const rate = role === "attacking" ? attacksPerSecond : rates[role];
    await atRate(rate, isOver, async () => {
      if (role === "repeating") await this.sendRepeatedly();
      else await this.send(this.drawRequest());
    });
    this.agent.destroy();
  }

  /** Sends the worst requests one after the other over `connections` connections. Returns the number of answers. */
  async sendClosedLoop(connections: number): Promise<number> {
    let answers = 0;
    const loop = async (): Promise<void> => {
      while (!this.options.isOver())
        answers += Number((await this.send(this.options.chance.pick(this.requests.worst))).status === 200);
    };
    await Promise.all(Array.from({ length: connections }, loop));
    this.agent.destroy();
    return answers;
  }

  private drawRequest(): CheckedRequest {
    const { chance } = this.options;
    const { light, medium, worst } = this.requests;
    if (this.client.role === "attacking") return chance.pick(worst);
    if (this.client.role === "leaving" && chance.happens(0.3)) return chance.pick(worst);
    return chance.pick(chance.happens(0.7) ? light : medium);
  }

  private async send(request: CheckedRequest, idempotencyKey?: string, mayLeave = false): Promise<Reply> {
    const { url, chance, journal, onReply } = this.options;
    const { customer, role } = this.client;
    const leaves = role === "leaving" || mayLeave;
    const path = withNonce(request.form.path, idempotencyKey === undefined ? chance.integer(0, nonces) : 0);
    const headers = {
      ...customer.bearer,
      ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
    };
    const reply = await sendRequest(url, path, {
      agent: this.agent,
      headers,
      ...(leaves ? { abortMs: chance.integer(0, chance.pick(abortMsMax)) } : {}),
    });
    journal.add(this.client, request, reply, idempotencyKey);
    if (reply.status !== "aborted") onReply(reply, this.client);
    else if (!leaves) journal.addProblem("incomplete response", `${path.slice(0, 120)} of the ${role} client`);
    return reply;
  }

  /** Sends the same request several times with one idempotency key, some of them at once. */
  private async sendRepeatedly(): Promise<void> {
    const { chance } = this.options;
    this.keys += 1;
    const key = `key-${this.client.customer.accountId}-${this.keys}`;
    const request = chance.pick(chance.pick([this.requests.light, this.requests.medium]));
    const repeat = (): Promise<Reply> => this.send(request, key, chance.happens(abandonedShare));
    const repetitions = chance.integer(1, repetitionsMax);
    if (chance.happens(0.5)) await Promise.all(Array.from({ length: repetitions }, repeat));
    else for (let sent = 0; sent < repetitions; sent += 1) await repeat();
  }
}

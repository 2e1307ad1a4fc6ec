/**
 * A killed service at 1.5 times its capacity: searches, facets, changes, statements, exports and light look-ups, of which the last are timed; clients
 * that leave, that read slowly, that send malformed requests, that name many versions and that send greedy statements. No answer may be wrong, late or
 * missing, and no charge lost or wrong.
 */
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { requestDeadlineMs } from "../../../../src/operations/caller.ts";
import { type CustomerOptions, createCustomer } from "../../accounts.ts";
import { Chance } from "../../chance.ts";
import { type HostileRequest, hostileRequests, searchOperations } from "../hostile-requests.ts";
import { sleepUnless } from "../mixed/faults.ts";
import { type ClientIdentity, type Journal, refusalsUnderLoad } from "../mixed/journal.ts";
import type { CheckedRequest } from "../mixed/prepared-lake.ts";
import { ResponseTimes } from "../mixed/response-times.ts";
import { atRate, type Reply, sendRequest, unanswered } from "../mixed/send.ts";
import { readVitalSigns, type VitalSigns } from "../mixed/vital-signs.ts";
import { readSlowly, sendMalformed } from "./bad-clients.ts";
import type { KilledService } from "./killed-service.ts";
import { sendLight } from "./light-client.ts";
import {
  hostileStatements,
  type LightClass,
  lightClasses,
  type OfferedClass,
  type OverloadRequests,
  offeredClasses,
  offeredShares,
  RequestDraw,
  wholeExport,
} from "./requests.ts";

export interface OverloadOptions {
  readonly service: KilledService;
  readonly accounts: string;
  readonly requests: OverloadRequests;
  /** Versions that requests can name. */
  readonly kept: readonly string[];
  readonly journal: Journal;
  readonly seed: number;
}

/** Requests a second of the clients besides those whose load is offered. */
const rates = { light: 20, kept: 10, abandoned: 0.2, hostile: 2, malformed: 2, versions: 10, statements: 0.5 } as const;
const slowReaders = 4;
const overload = 1.5;
const capacityConnections = 8;
const connectionsMax = 150;
/** The longest time after which a client leaves an export: while it waits, is written or is sent. */
const abandonMsMax = 3_000;
export const sqlDeadlineSeconds = 20;
/** A busy machine may send a response this much after its deadline. An export waits until it is written. */
const lateMs = 10_000;
const answeredMs = (path: string): number =>
  path.startsWith("/v1/exports")
    ? Number.POSITIVE_INFINITY
    : lateMs + 2 * requestDeadlineMs + (path.startsWith("/v1/sql") ? sqlDeadlineSeconds * 1000 : 0);
/** What a hostile request may be refused with besides. */
const hostileRefusals = [400, 404, 406, 414, 422, 431, ...refusalsUnderLoad];

/** The rate limits of the highest tier: what is free counts against them by its time. */
const limited: CustomerOptions = { override: null };

interface SendOptions {
  readonly path: string;
  readonly abortMs?: number;
  /** Whether a response may be incomplete. */
  readonly mayBreak?: boolean;
}

/** Response times of light requests. */
interface LightTimes {
  readonly idle: ResponseTimes;
  readonly loaded: ResponseTimes;
  /** Of requests during an outage or a full disk, or soon after. */
  readonly disturbed: ResponseTimes;
}

const newTimes = (): LightTimes => ({
  idle: new ResponseTimes(),
  loaded: new ResponseTimes(),
  disturbed: new ResponseTimes(),
});

export class OverloadLoad {
  readonly readings: VitalSigns[] = [];
  readonly times: Readonly<Record<LightClass, LightTimes>> = { light: newTimes(), kept: newTimes() };
  /** Bytes that slow readers have read. */
  slowBytes = 0;
  private readonly chance: Chance;
  private readonly draw: RequestDraw;
  private readonly agents = new Map<string, Agent>();
  private readonly startedAtMs = performance.now();

  constructor(private readonly options: OverloadOptions) {
    this.chance = new Chance(options.seed);
    this.draw = new RequestDraw(options.requests, this.chance);
  }

  get elapsedSeconds(): number {
    return (performance.now() - this.startedAtMs) / 1000;
  }

  private async identity(
    role: string,
    refusals = refusalsUnderLoad,
    options: CustomerOptions = {},
  ): Promise<ClientIdentity> {
    return { role, refusals, customer: await createCustomer(this.options.accounts, { usd: "900000", ...options }) };
  }

  /** Returns the connections of a role: more than one account may have requests in progress, and fewer than one address may have. */
  private agentOf(role: string): Agent {
    const agent = this.agents.get(role) ?? new Agent({ keepAlive: true, maxSockets: connectionsMax });
    this.agents.set(role, agent);
    return agent;
  }

  private closeConnections(): void {
    for (const agent of this.agents.values()) agent.destroy();
    this.agents.clear();
  }

  /** Sends light requests of each class alone, after a first one, for which a version may have to be opened. */
  async measureIdle(seconds: number): Promise<void> {
    for (const of of lightClasses) {
      const client = await this.identity(`${of}, idle`);
      const first = this.draw.draw(of);
      await this.send(client, first.request, first);
      await this.sendLight(of, client, endAfter(seconds), () => this.times[of].idle);
    }
  }

  /** Returns the answers a second of a closed loop of the offered load. */
  async measureCapacity(seconds: number): Promise<number> {
    const client = await this.identity("closed loop");
    const isOver = endAfter(seconds);
    const startedAtMs = performance.now();
    let answers = 0;
    const loop = async (): Promise<void> => {
      while (!isOver()) {
        const drawn = this.draw.draw(this.draw.drawClass());
        const { status } = await this.send(client, drawn.request, drawn);
        answers += Number(status === 200);
      }
    };
    await Promise.all(Array.from({ length: capacityConnections }, loop));
    return (answers * 1000) / (performance.now() - startedAtMs);
  }

  /** Runs all clients until the time is over. */
  async run(capacityPerSecond: number, isOver: () => boolean): Promise<void> {
    const offered = offeredClasses.map((of) =>
      this.offer(of, overload * capacityPerSecond * offeredShares[of], isOver),
    );
    const light = lightClasses.map(async (of) => {
      const { loaded, disturbed } = this.times[of];
      const timesOf = (sentAtMs: number): ResponseTimes =>
        this.options.service.wasDisturbed(sentAtMs, Date.now()) ? disturbed : loaded;
      await this.sendLight(of, await this.identity(of), isOver, timesOf);
    });
    await Promise.all([
      ...offered,
      ...light,
      this.nameVersions(isOver),
      this.sendHostileStatements(isOver),
      this.abandonExports(isOver),
      this.sendHostile(isOver),
      this.sendMalformed(isOver),
      this.readSlowly(isOver),
      this.watch(isOver),
    ]);
    this.closeConnections();
  }

  /** Sends every request once, each of which must be answered. */
  async askEverything(): Promise<void> {
    const client = await this.identity("afterwards", []);
    for (const of of [...lightClasses, ...offeredClasses])
      for (const request of this.options.requests[of])
        await this.send(client, request, { path: this.draw.pathOf(of, request) });
    this.closeConnections();
  }

  /** Each class has an account, so that they wait as different customers do. */
  private async offer(of: OfferedClass, perSecond: number, isOver: () => boolean): Promise<void> {
    const client = await this.identity(of);
    await atRate(perSecond, isOver, async () => {
      const drawn = this.draw.draw(of);
      await this.send(client, drawn.request, drawn);
    });
  }

  private async sendLight(
    of: LightClass,
    identity: ClientIdentity,
    isOver: () => boolean,
    timesOf: (sentAtMs: number) => ResponseTimes,
  ): Promise<void> {
    const requests = this.options.requests[of];
    const client = {
      url: this.options.service.url,
      paths: requests.map(({ form }) => form.path),
      headers: identity.customer.bearer,
      perSecond: rates[of],
      connections: connectionsMax,
      seed: this.chance.integer(0, 2 ** 31),
    };
    await sendLight(client, isOver, ({ index, reply }) => {
      const request = requests[index];
      if (request === undefined) throw new RangeError(`Unknown request ${index}: expected one of ${requests.length}.`);
      this.record(identity, request, reply);
      if (reply.status === 200) timesOf(reply.sentAtMs).add(this.elapsedSeconds, reply.ms);
    });
  }

  /** Looks up listings that do not exist, which is free, in one version after the other. */
  private async nameVersions(isOver: () => boolean): Promise<void> {
    const client = await this.identity("versions", hostileRefusals, limited);
    await atRate(rates.versions, isOver, async () => {
      const id = this.chance
        .integer(0, 2 ** 31)
        .toString(16)
        .padStart(32, "0");
      const route = this.chance.pick([`/v1/listings/${id}`, `/v1/dealers/${id}`, `/v1/listings/${id}/comparables`]);
      const path = `${route}?data_version=${this.chance.pick(this.options.kept)}`;
      await this.send(client, { form: { weight: "light", path }, answers: new Map() }, { path });
    });
  }

  /** Failed statements can be charged: the account is none of those whose charges are compared with the answers. */
  private async sendHostileStatements(isOver: () => boolean): Promise<void> {
    const { service, journal } = this.options;
    const { customer, role } = await this.identity("hostile statements", hostileRefusals, limited);
    await atRate(rates.statements, isOver, async () => {
      const body = { sql: this.chance.pick(hostileStatements) };
      const options = { agent: this.agentOf(role), headers: customer.bearer, body };
      const reply = await sendRequest(service.url, "/v1/sql", options);
      journal.count(role, `${reply.status}${reply.code === undefined ? "" : ` ${reply.code}`}`);
      this.checkEnd(role, reply);
      if (reply.status !== "aborted" && ![200, ...hostileRefusals].includes(reply.status))
        journal.addProblem("hostile statement", `${body.sql}: ${reply.body.slice(0, 400)}`);
    });
  }

  private async abandonExports(isOver: () => boolean): Promise<void> {
    const client = await this.identity("abandoned export");
    await atRate(rates.abandoned, isOver, async () => {
      const { request, path } = this.draw.draw("export");
      await this.send(client, request, { path, abortMs: this.chance.integer(0, abandonMsMax), mayBreak: true });
    });
  }

  private async sendHostile(isOver: () => boolean): Promise<void> {
    const client = await this.identity("hostile", hostileRefusals);
    const hostile: readonly HostileRequest[] = searchOperations.flatMap((operation) =>
      hostileRequests(new Chance(this.options.seed), operation, 20),
    );
    await atRate(rates.hostile, isOver, async () => {
      const { path } = this.chance.pick(hostile);
      await this.send(client, { form: { weight: "medium", path }, answers: new Map() }, { path, mayBreak: true });
    });
  }

  private async sendMalformed(isOver: () => boolean): Promise<void> {
    const { service, journal } = this.options;
    await atRate(rates.malformed, isOver, async () => {
      const status = await sendMalformed(service.url, this.chance);
      journal.count("malformed", status);
      if (/^5/.test(status) && status !== "503" && status !== "505") journal.addProblem("malformed request", status);
    });
  }

  private async readSlowly(isOver: () => boolean): Promise<void> {
    const { service, journal } = this.options;
    const client = await this.identity("slow reader");
    const loop = async (): Promise<void> => {
      while (!isOver()) {
        const facets = this.chance.pick(this.options.requests.facets);
        const request = this.chance.pick([wholeExport, wholeExport, facets]);
        const { path } = request.form;
        const sentAtMs = Date.now();
        const bytes = await readSlowly(service.url, path, client.customer.bearer, isOver);
        journal.add(client, request, { path, ...unanswered, sentAtMs, ms: Date.now() - sentAtMs });
        this.slowBytes += bytes;
        if (bytes === 0) await sleep(1000);
      }
    };
    await Promise.all(Array.from({ length: slowReaders }, loop));
  }

  /** Sends a request and records its reply. */
  private async send(
    client: ClientIdentity,
    request: CheckedRequest,
    { path, abortMs, mayBreak = false }: SendOptions,
  ): Promise<Reply> {
    const reply = await sendRequest(this.options.service.url, path, {
      agent: this.agentOf(client.role),
      headers: client.customer.bearer,
      body: request.form.body,
      ...(abortMs === undefined ? {} : { abortMs }),
    });
    this.record(client, request, reply, mayBreak);
    return reply;
  }

  /** Records a reply. A refused connection is counted alone: nothing can be charged for it. */
  private record(client: ClientIdentity, request: CheckedRequest, reply: Reply, mayBreak = false): void {
    const { service, journal } = this.options;
    this.checkEnd(client.role, reply);
    const isUnsent = reply.status === "aborted" && reply.code === "ECONNREFUSED";
    if (isUnsent) journal.count(client.role, "no service");
    else journal.add(client, request, reply);
    if (reply.status === "aborted" && !mayBreak && !service.wasDown(reply.sentAtMs, Date.now()))
      journal.addProblem("incomplete response", `${reply.path.slice(0, 120)} to ${client.role}: ${reply.code}`);
  }

  /** Reports a reply that came long after its deadline. */
  private checkEnd(role: string, { path, ms, status, sentAtMs }: Reply): void {
    const { service, journal } = this.options;
    if (ms > answeredMs(path) && !service.wasDisturbed(sentAtMs, Date.now()))
      journal.addProblem("late response", `${path.slice(0, 120)} to ${role}: ${status} after ${Math.round(ms)} ms`);
  }

  private async watch(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      try {
        this.readings.push(await readVitalSigns(this.options.service.metricsUrl, this.elapsedSeconds));
      } catch {
        // Metrics end with the process.
      }
      await sleepUnless(isOver, 1000);
    }
  }
}

/** Returns a function that is true once a time has passed. */
export function endAfter(seconds: number): () => boolean {
  const untilMs = performance.now() + seconds * 1000;
  return () => performance.now() >= untilMs;
}

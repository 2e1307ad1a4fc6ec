/**
 * Saved searches of two accounts while versions are published: one has a receiver that answers, the other ones that never do. The first gets all
 * messages, each as the reference has it.
 */
import { createHash } from "node:crypto";
import { Agent } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../../../src/base/json.ts";
import { LakeVersion } from "../../../../src/serving/lake-version.ts";
import { type Customer, createCustomer } from "../../accounts.ts";
import type { Scope } from "../../scope.ts";
import { answerPath } from "../../versions.ts";
import { Publisher, sleepUnless } from "../mixed/faults.ts";
import type { PreparedLake } from "../mixed/prepared-lake.ts";
import { type Reply, sendRequest } from "../mixed/send.ts";
import { readVitalSigns } from "../mixed/vital-signs.ts";
import type { FaultOptions } from "./faults.ts";
import { GoodReceiver, type ReceivedMessage, startHostileReceivers } from "./receivers.ts";

export interface WebhookLoadOptions extends Pick<FaultOptions, "service" | "journal" | "isOver" | "onEvent"> {
  readonly accounts: string;
  readonly prepared: PreparedLake;
}

/** The filters of the good searches: few changes, and more than a message has. */
const queries = ["make=Ford&fields=id,price", "state=CA&fields=id", "fields=id,miles"];
const hostileSearches = 60;
/** A published version is in service after this time, also while files of it are damaged. */
const inServiceMs = 240_000;
/**
 * The last message has arrived this much after its version is in service: two attempts that a damaged file or the deadline ends are repeated after 5
 * seconds and 5 minutes.
 */
const deliveredMs = 420_000;
const requestMs = 60_000;
const betweenMs = 5_000;

/** The changes that each query has between two versions: their number and hash, by query and versions. */
type Reference = ReadonlyMap<string, string>;
const keyOf = (query: string, since: string, version: string): string => `${query} ${since} ${version}`;

/** The number and hash of changes that come in parts. */
class ChangesSeen {
  private count = 0;
  private readonly hash = createHash("sha256");

  add(changes: readonly unknown[]): void {
    this.count += changes.length;
    for (const change of changes) this.hash.update(`${JSON.stringify(change)}\n`);
  }

  describe(): string {
    return `${this.count} changes ${this.hash.copy().digest("hex")}`;
  }
}

/** Reads the reference from the undamaged lake. */
export async function messageReference({ lake, versions }: PreparedLake): Promise<Reference> {
  const reference = new Map<string, string>();
  for (const [index, name] of versions.entries()) {
    const version = await LakeVersion.open(lake, name, { hasServingFiles: false });
    for (const since of versions.slice(0, index))
      for (const query of queries)
        reference.set(keyOf(query, since, name), await describeChanges(version, `since=${since}&${query}`));
    version.close();
  }
  return reference;
}

async function describeChanges(version: LakeVersion, query: string): Promise<string> {
  const changes = new ChangesSeen();
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const body = await answerPath(version, `/v1/changes?${query}&limit=1000${from}`);
    if (!isObject(body) || !Array.isArray(body.data) || !isObject(body.pagination)) throw new TypeError(query);
    changes.add(body.data);
    const { next_cursor } = body.pagination;
    cursor = typeof next_cursor === "string" ? next_cursor : undefined;
  }
  return changes.describe();
}

export class WebhookLoad {
  rounds = 0;
  published = 0;
  messages = 0;
  slowestSeconds = 0;
  private readonly publisher: Publisher;
  private readonly receiver: GoodReceiver;
  private readonly agent = new Agent({ keepAlive: true });

  private constructor(
    private readonly options: WebhookLoadOptions,
    private readonly reference: Reference,
    private readonly good: Customer,
    private readonly hostile: Customer,
  ) {
    this.publisher = new Publisher(options.prepared);
    this.receiver = new GoodReceiver((kind, details) => options.journal.addProblem(kind, details));
  }

  static async create(options: WebhookLoadOptions, reference: Reference): Promise<WebhookLoad> {
    const good = await createCustomer(options.accounts, { usd: "900000" });
    return new WebhookLoad(options, reference, good, await createCustomer(options.accounts, { usd: "900000" }));
  }

  get repeated(): number {
    return this.receiver.repeated;
  }

  /** Repeats rounds until the time is over, each of which publishes all versions. The last one is completed. */
  async run(scope: Scope): Promise<void> {
    const { versions } = this.options.prepared;
    await this.receiver.start(scope);
    const addresses = await startHostileReceivers(scope);
    while (!this.options.isOver()) {
      while (this.publisher.version !== versions[0]) await this.publish();
      const searches = await this.saveAll(addresses);
      for (const _ of versions.slice(1)) {
        await this.publish();
        await sleepUnless(this.options.isOver, betweenMs);
      }
      await this.awaitMessages(searches);
      for (const customer of [this.good, this.hostile]) await this.deleteAll(customer);
      this.rounds += 1;
    }
    this.agent.destroy();
  }

  /** Publishes the next version, and waits until it is in service. */
  private async publish(): Promise<void> {
    const { service, journal } = this.options;
    await this.publisher.publishNext();
    this.published += 1;
    const { version } = this.publisher;
    const startedAtMs = performance.now();
    while (performance.now() - startedAtMs < inServiceMs) {
      const signs = await readVitalSigns(service.metricsUrl, 0).catch(() => undefined);
      if (signs?.version === version) return;
      await sleep(200);
    }
    journal.addProblem("version not in service", `${version} in ${inServiceMs} ms`);
  }

  /** Saves the searches of both accounts. Returns the queries of the good ones by id. */
  private async saveAll(addresses: readonly string[]): Promise<ReadonlyMap<string, string>> {
    for (let index = 0; index < hostileSearches; index += 1)
      await this.save(this.hostile, "fields=id", `${addresses[index % addresses.length]}/${index}`);
    const searches = new Map<string, string>();
    for (const query of queries) {
      const id = await this.save(this.good, query, `${this.receiver.address}/hook`);
      if (id !== undefined) searches.set(id, query);
    }
    return searches;
  }

  private async save(as: Customer, query: string, webhook_url: string): Promise<string | undefined> {
    const { body } = await this.request(as, "POST", "/v1/searches", { name: query, query, webhook_url });
    const parsed: unknown = body === "" ? {} : JSON.parse(body);
    const data = isObject(parsed) && isObject(parsed.data) ? parsed.data : {};
    if (typeof data.search_id !== "string") return undefined;
    this.receiver.secrets.set(data.search_id, String(data.secret));
    return data.search_id;
  }

  private async deleteAll(as: Customer): Promise<void> {
    const { body } = await this.request(as, "GET", "/v1/searches");
    const parsed: unknown = body === "" ? {} : JSON.parse(body);
    const data: readonly unknown[] = isObject(parsed) && Array.isArray(parsed.data) ? parsed.data : [];
    for (const search of data)
      if (isObject(search)) await this.request(as, "DELETE", `/v1/searches/${String(search.search_id)}`);
  }

  /** Sends a request until the service answers it. */
  private async request({ bearer }: Customer, method: string, path: string, body?: object): Promise<Reply> {
    const { service, journal } = this.options;
    const startedAtMs = performance.now();
    for (;;) {
      const reply = await sendRequest(service.url, path, { agent: this.agent, headers: bearer, method, body });
      // A repeated deletion finds no search.
      if (reply.status === 200 || (method === "DELETE" && reply.status === 404)) return reply;
      if (performance.now() - startedAtMs > requestMs) {
        journal.addProblem("saved searches", `${method} ${path}: ${reply.status} ${reply.body.slice(0, 400)}`);
        return reply;
      }
      await sleep(500);
    }
  }

  /** Waits until the good searches have reached the published version, and compares their messages. */
  private async awaitMessages(searches: ReadonlyMap<string, string>): Promise<void> {
    const { journal, onEvent } = this.options;
    const { version } = this.publisher;
    const startedAtMs = Date.now();
    const late = new Set(searches.keys());
    let lastAtMs = startedAtMs;
    while (late.size > 0 && Date.now() - startedAtMs < deliveredMs) {
      for (const search of late) {
        const last = this.receiver.received.get(search)?.at(-1);
        if (last?.data.version !== version || last.data.is_last === false) continue;
        late.delete(search);
        lastAtMs = Math.max(lastAtMs, last.atMs);
      }
      await sleep(100);
    }
    const seconds = (lastAtMs - startedAtMs) / 1000;
    this.slowestSeconds = Math.max(this.slowestSeconds, seconds);
    onEvent(`messages of ${version} arrived after ${seconds.toFixed(1)} s`);
    for (const [search, query] of searches) {
      const messages = this.receiver.received.get(search) ?? [];
      this.messages += messages.length;
      if (late.has(search)) journal.addProblem("messages lost", `${query} after ${messages.length} messages`);
      else await this.compare(query, messages);
      this.receiver.received.delete(search);
    }
  }

  /** Compares the messages of each pair of versions with the changes between these. Other clients go on after each message. */
  private async compare(query: string, messages: readonly ReceivedMessage[]): Promise<void> {
    const { journal, prepared } = this.options;
    const changes = new Map<string, ChangesSeen>();
    let reached = prepared.versions[0];
    for (const { type, data } of messages) {
      const { since, version, is_last, changes: found } = data;
      if (type !== "search.changed" || since !== reached || !Array.isArray(found))
        journal.addProblem("message out of order", `${query}: ${type} since ${since}, expected ${reached}`);
      const key = keyOf(query, String(since), String(version));
      const seen = changes.get(key) ?? new ChangesSeen();
      changes.set(key, seen);
      seen.add(Array.isArray(found) ? found : []);
      if (is_last === true) reached = String(version);
      await nextTurn();
    }
    for (const [key, seen] of changes)
      if (seen.describe() !== this.reference.get(key))
        journal.addProblem("wrong messages", `${key}: ${seen.describe()}, expected ${this.reference.get(key)}`);
  }
}

/** A `carquet serve` process that is killed and started again at the same address. */
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../../src/base/user-error.ts";
import { type ServeProcess, startServing } from "../../command-line.ts";
import { freePort } from "../../http/free-port.ts";
import type { Scope } from "../../scope.ts";

export interface KilledServiceOptions {
  readonly lake: string;
  readonly accounts: string;
  /** Options of `carquet serve`. */
  readonly args: readonly string[];
}

/** A time without a service, or without disk space, on the clock of `Date.now`. */
interface Outage {
  readonly fromMs: number;
  toMs: number;
}

/** How long a start is tried again: it fails while the disk of the accounts is full. */
const startMs = 90_000;
const retryMs = 500;
/** How long a stopping service may take. */
const stopMs = 90_000;
/** A connection may be refused this long after the service has announced its address. */
const graceMs = 1_000;

/** How long requests that have waited for the end of an outage are answered after it. */
const recoveryMs = 10_000;

const overlaps = (outages: readonly Outage[], fromMs: number, toMs: number, afterMs: number): boolean =>
  outages.some((outage) => outage.fromMs <= toMs && fromMs <= outage.toMs + afterMs);

/** How to start the process again. */
type Start = () => Promise<ServeProcess>;

export class KilledService {
  /** Log lines of defects, and lines that are no log. */
  readonly defects: string[] = [];
  readonly outages: Outage[] = [];
  /** Times with a full disk. */
  readonly fullDisks: Outage[] = [];

  private constructor(
    private process: ServeProcess,
    private readonly start: Start,
    readonly url: string,
    readonly metricsUrl: string,
  ) {}

  static async start(scope: Scope, { lake, accounts, args }: KilledServiceOptions): Promise<KilledService> {
    const port = String(await freePort());
    const metricsPort = String(await freePort());
    const env = { CARQUET_ACCOUNTS: accounts, CARQUET_LOG_LEVEL: "warn", CARQUET_METRICS_PORT: metricsPort };
    // Its clients, and the check of its answers, would not share its processors.
    const options = { env, priority: -5 };
    const start: Start = () => startServing(scope, ["serve", "--port", port, "--lake", lake, ...args], options);
    const started = await start();
    return new KilledService(started, start, started.url, `http://127.0.0.1:${metricsPort}/metrics`);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Whether the service was down at some time between two times. */
  wasDown(fromMs: number, toMs: number): boolean {
    return overlaps(this.outages, fromMs, toMs, graceMs);
  }

  /** Whether a request between two times may have waited for the end of an outage or of a full disk. */
  wasDisturbed(fromMs: number, toMs: number): boolean {
    return overlaps([...this.outages, ...this.fullDisks], fromMs, toMs, recoveryMs);
  }

  /** Kills the process and starts it again after a pause. Rejects if it does not start. */
  async killAndRestart(pauseMs: number): Promise<void> {
    const outage = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.outages.push(outage);
    this.process.kill();
    await this.collectLog();
    await sleep(pauseMs);
    for (;;) {
      try {
        this.process = await this.start();
        break;
      } catch (thrown) {
        if (Date.now() - outage.fromMs > startMs)
          throw new Error(`The service did not start within ${startMs} ms: ${messageOf(thrown)}`);
        await sleep(retryMs);
      }
    }
    outage.toMs = Date.now();
  }

  /** Stops the service. Returns its exit code; null if it has to be killed. */
  async stop(): Promise<number | null> {
    this.process.terminate();
    const timer = setTimeout(() => this.process.kill(), stopMs);
    try {
      return await this.collectLog();
    } finally {
      clearTimeout(timer);
    }
  }

  private async collectLog(): Promise<number | null> {
    const { code, err } = await this.process.ended;
    // A killed process may leave a part of a line.
    const lines = err.split("\n").slice(0, -1);
    for (const line of lines)
      if (/"msg":"(internal error|defect)"|^[^{]/.test(line)) this.defects.push(line.slice(0, 2000));
    return code;
  }
}

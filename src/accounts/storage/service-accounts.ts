/**
 * The accounts of a service. Work that fails because of the file or the server is refused, and a probe once a second finds out that they can be used
 * again, also without requests. A file that is unusable, or that was replaced by another one, is opened again.
 */
import { statSync } from "node:fs";
import { everyAccount } from "../../base/fair-shares.ts";
import { inTurnOf } from "../../base/turns.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { Refusal, refuse } from "../../contract/errors.ts";
import { classifyFault, type EngineFault } from "../../db/engine-faults.ts";
import { isPostgresUrl } from "../../db/postgres.ts";
import { checked, type SqlDatabase } from "../../db/sql-database.ts";
import {
  assertWritable,
  createAccounts,
  type OpenAccountsOptions,
  openAccounts,
  publishPrices,
} from "./open-accounts.ts";

export interface ServiceAccountsOptions {
  /** Whether a charge is on disk before its request is answered, and not within 100 ms. */
  readonly isEachFlushed?: boolean;
  /** Called with the time of each flush to disk. */
  readonly onFlush?: (ms: number) => void;
  /** Called when accounts become unavailable, with the reason, and when they recover. */
  readonly onAvailabilityChange?: (isDown: boolean, reason: string) => void;
}

/** How long a request waits for the lock of another process, and, in PostgreSQL, for the lock of another transaction. */
const busyMs = { file: 50, server: 2_000 } as const;
const replyMs = 5_000;
/** How long PostgreSQL keeps a transaction of a service that hangs: less than others wait for its locks. */
const idleMs = 1_500;
const probeMs = 1_000;

/** Faults of the input of one call. */
const faultsOfInput: ReadonlySet<EngineFault> = new Set(["constraint", "invalid value"]);

/** Faults after which the open database is still usable; after any other it is opened again. */
const recoverableFaults: ReadonlySet<EngineFault> = new Set([...faultsOfInput, "disk full", "busy", "unreachable"]);

interface OpenedAccounts {
  readonly database: SqlDatabase;
  /** Device and inode: a different file may replace this one at the same path. Undefined for PostgreSQL. */
  readonly inode: string | undefined;
}

export class ServiceAccounts {
  private readonly isFile: boolean;
  private readonly options: OpenAccountsOptions;
  private opened: OpenedAccounts | undefined;
  private opening: Promise<SqlDatabase> | undefined;
  private isDown = false;
  private isClosed = false;
  private probeTimer: NodeJS.Timeout | undefined;
  private readonly running = new Set<Promise<unknown>>();

  private constructor(
    private readonly location: string,
    private readonly settings: ServiceAccountsOptions,
  ) {
    this.isFile = !isPostgresUrl(location);
    const onError = (thrown: unknown): void => this.setAvailability(thrown);
    const { isEachFlushed = false, onFlush = () => undefined } = settings;
    const flush = { isEachFlushed, onError, onFlush };
    this.options = { busyMs: this.isFile ? busyMs.file : busyMs.server, replyMs, idleMs, flush };
  }

  /** Opens accounts; creates them if there are none. Throws a UserError if they cannot be opened. */
  static async open(location: string, settings: ServiceAccountsOptions): Promise<ServiceAccounts> {
    const accounts = new ServiceAccounts(location, settings);
    accounts.opened = { database: await createAccounts(location, accounts.options), inode: accounts.currentInode() };
    return accounts;
  }

  /** Whether charges can be written and keys be read. */
  get isAvailable(): boolean {
    return !this.isDown;
  }

  /** Works on the accounts. Refuses with `metering_unavailable` if that fails, except with a UserError or a Refusal. */
  use<T>(work: (database: SqlDatabase) => Promise<T>): Promise<T> {
    return this.attempt(work).catch(refuseUnmetered);
  }

  /** Works on the accounts. Throws what the work throws. A `write` that succeeds proves that they are available. */
  async attempt<T>(work: (database: SqlDatabase) => Promise<T>, kind: "read" | "write" = "read"): Promise<T> {
    try {
      if (this.isClosed) throw new Error("The accounts are closed.");
      const working = work(this.openedNow() ?? (await this.openAgain()));
      this.running.add(working);
      const result = await working.finally(() => this.running.delete(working));
      if (this.isDown && kind === "write") this.setAvailability(undefined);
      return result;
    } catch (thrown) {
      if (!isRefusal(thrown)) await this.onFault(thrown);
      throw thrown;
    }
  }

  /** Waits for the work in progress, then closes the accounts. Does not resolve while the disk hangs. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.probeTimer);
    await Promise.allSettled(this.running);
    await this.opened?.database.close();
  }

  private currentInode(): string | undefined {
    const stats = this.isFile ? statSync(this.location, { throwIfNoEntry: false }) : undefined;
    return stats && `${stats.dev} ${stats.ino}`;
  }

  /** Returns the open database; undefined if there is none, or if the file was replaced. */
  private openedNow(): SqlDatabase | undefined {
    return this.opened?.inode === this.currentInode() ? this.opened?.database : undefined;
  }

  /** Opens the accounts again. Never creates a missing file: that would be an empty ledger. */
  private openAgain(): Promise<SqlDatabase> {
    this.opening ??= this.reopen().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async reopen(): Promise<SqlDatabase> {
    await this.drop();
    const inode = this.currentInode();
    if (this.isFile && inode === undefined)
      throw new Error(`Accounts file ${this.location} is missing: expected it to stay.`);
    const database = await openAccounts(this.location, this.options)
      .then((opened) => checked(opened, publishPrices))
      .catch((thrown: unknown) => {
        throw new Error(messageOf(thrown), { cause: thrown });
      });
    this.opened = { database, inode };
    return database;
  }

  private async drop(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await opened?.database.close().catch(() => undefined);
  }

  private async onFault(thrown: unknown): Promise<void> {
    const fault = classifyFault(thrown);
    // What a server has locked may be of one account alone.
    const isOfOne = fault === "busy" && !this.isFile && !this.isDown;
    if (!isOfOne && !faultsOfInput.has(fault)) this.setAvailability(thrown);
    if (this.isFile && !recoverableFaults.has(fault)) await this.drop();
  }

  /** Notes a fault, or, without one, that accounts are available. */
  private setAvailability(thrown: unknown): void {
    const isDown = thrown !== undefined;
    if (this.isDown !== isDown) this.settings.onAvailabilityChange?.(isDown, isDown ? messageOf(thrown) : "");
    this.isDown = isDown;
    if (isDown && !this.isClosed) this.probeTimer ??= setTimeout(() => this.probe(), probeMs).unref();
  }

  private probe(): void {
    this.probeTimer = undefined;
    if (this.isDown) inTurnOf(everyAccount, () => this.attempt(assertWritable, "write")).catch(() => undefined);
  }
}

const isRefusal = (thrown: unknown): boolean => thrown instanceof UserError || thrown instanceof Refusal;

/** Fails closed: a request that cannot be metered is refused. */
export function refuseUnmetered(thrown: unknown): never {
  throw isRefusal(thrown) ? thrown : refuse("metering_unavailable", {});
}

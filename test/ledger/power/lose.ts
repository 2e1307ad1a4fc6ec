/**
 * Losses of power, simulated on a recording: at some moment the machine is off, and of the files there is what the disk had confirmed
 * by then, with none or some of what it had not, in any order and torn. Every charge that an answer was sent for must be there.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAccountsFile } from "../../../src/accounts/file/schema.ts";
import { audit } from "../../../src/accounts/ledger/audit.ts";
import { textIn } from "../../../src/base/json.ts";
import { sql } from "../../../src/db/sql.ts";
import type { Chance } from "../../oracle/random-market/chance.ts";
import type { Event, FileName, Recording } from "./record.ts";

type Change = Extract<Event, { readonly file: FileName; readonly kind: "written" | "cut" }>;

/** A file on a disk: what has been confirmed, and what is on its way. */
class OnDisk {
  private readonly confirmed: File;
  private pending: Change[] = [];
  private syncing = 0;

  constructor(before: Buffer) {
    this.confirmed = new File(before);
  }

  change(change: Change): void {
    this.pending.push(change);
  }

  syncBegins(): void {
    this.syncing = this.pending.length;
  }

  syncEnds(): void {
    for (const change of this.pending.splice(0, this.syncing)) this.confirmed.take(change);
    this.syncing = 0;
  }

  /** What is there after a loss of power. */
  left(chance: Chance, isMerciless: boolean): Buffer {
    if (isMerciless) return this.confirmed.content();
    const file = new File(this.confirmed.content());
    for (const change of this.pending) if (chance.happens(0.5)) file.take(torn(change, chance));
    return file.content();
  }
}

/** The bytes of a file, which grow. */
class File {
  private bytes: Buffer;
  private length: number;

  constructor(content: Buffer) {
    this.bytes = Buffer.from(content);
    this.length = content.length;
  }

  take(change: Change): void {
    const end = change.kind === "cut" ? change.length : change.offset + change.bytes.length;
    if (end > this.bytes.length) this.bytes = Buffer.concat([this.bytes, Buffer.alloc(2 * end - this.bytes.length)]);
    if (change.kind === "cut") this.bytes.fill(0, end);
    else change.bytes.copy(this.bytes, change.offset);
    this.length = change.kind === "cut" ? end : Math.max(this.length, end);
  }

  content(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

const sectorBytes = 512;

/** A write of which sometimes only the first sectors arrived. */
function torn(change: Change, chance: Chance): Change {
  if (change.kind === "cut" || chance.happens(0.8)) return change;
  const sectors = chance.integer(0, Math.floor(change.bytes.length / sectorBytes));
  return { ...change, bytes: change.bytes.subarray(0, sectors * sectorBytes) };
}

export interface Lost {
  /** Losses of power that were tried. */
  readonly losses: number;
  /** Those after which an answer's charge was missing, or the file unsound. */
  readonly broken: number;
  /** Answers that had been sent before them, taken together. */
  readonly answers: number;
  /** The first thing that was wrong. */
  readonly first: string | undefined;
}

/** Loses the power so often at random moments of a recording, and looks what is left. */
export function losePower(folder: string, recording: Recording, chance: Chance, losses: number): Lost {
  const { events } = recording;
  const moments = new Map<number, number>();
  for (let loss = 0; loss < losses; loss += 1) {
    const moment = chance.integer(0, events.length - 1);
    moments.set(moment, (moments.get(moment) ?? 0) + 1);
  }
  const disk = { database: new OnDisk(recording.before.database), wal: new OnDisk(recording.before.wal) };
  const answered: string[] = [];
  let isNamed = false;
  let found: Lost = { losses: 0, broken: 0, answers: 0, first: undefined };
  for (const [moment, event] of events.entries()) {
    if (event.kind === "answered") answered.push(event.chargeId);
    else if (event.kind === "written" || event.kind === "cut") disk[event.file].change(event);
    else if (event.file === "folder") isNamed ||= event.kind === "syncEnds";
    else disk[event.file][event.kind]();
    for (let times = moments.get(moment) ?? 0; times > 0; times -= 1) {
      const isMerciless = chance.happens(0.5);
      const left = join(folder, `loss-${found.losses}`);
      mkdirSync(left);
      const path = join(left, "accounts.db");
      writeFileSync(path, disk.database.left(chance, isMerciless));
      if (isNamed) writeFileSync(`${path}-wal`, disk.wal.left(chance, isMerciless));
      const fault = faultOf(path, answered);
      found = {
        losses: found.losses + 1,
        broken: found.broken + Number(fault !== undefined),
        answers: found.answers + answered.length,
        first: found.first ?? (fault && `after event ${moment} of ${events.length}: ${fault}`),
      };
    }
  }
  return found;
}

/** What is wrong with a file that the power was lost on; undefined when nothing is. */
function faultOf(path: string, answered: readonly string[]): string | undefined {
  try {
    const database = openAccountsFile(path, { busyMs: 0 });
    try {
      const charges = database.all(sql`SELECT entry_id FROM entries WHERE kind = 'charge'`);
      const kept = new Set(charges.map((row) => textIn(row, "entry_id")));
      const missing = answered.filter((chargeId) => !kept.has(chargeId));
      if (missing.length > 0) return `${missing.length} of ${answered.length} answers lost their charge`;
      return audit(database).faults[0];
    } finally {
      database.close();
    }
  } catch (thrown) {
    return String(thrown);
  }
}

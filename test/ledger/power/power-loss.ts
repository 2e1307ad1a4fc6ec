/**
 * Simulates losses of power on a recording. After a loss, the files hold the writes that the disk had confirmed by then, and none or some of the
 * other writes, in any order and torn. Every charge whose answer was sent must be there; of a service that flushes at intervals, all but those of the last
 * 100 ms.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { audit } from "../../../src/accounts/ledger/audit.ts";
import { openAccounts } from "../../../src/accounts/storage/open-accounts.ts";
import { textIn } from "../../../src/base/json.ts";
import { sql } from "../../../src/db/sql.ts";
import { useAndClose } from "../../../src/db/sql-database.ts";
import type { Chance } from "../../support/chance.ts";
import type { Event, FileName, Recording } from "./recording.ts";

/** How long answers can have been sent whose charges are lost, with the time that a busy machine takes to send an answer after its charge. */
const lostMsMax = 100 + 250;

type Answer = Extract<Event, { readonly kind: "answered" }>;
type Change = Extract<Event, { readonly file: FileName; readonly kind: "written" | "cut" }>;

/** A file on a simulated disk: confirmed content and pending writes. */
class SimulatedFile {
  private readonly confirmed: MemoryFile;
  private pending: Change[] = [];
  private syncing = 0;

  constructor(before: Buffer) {
    this.confirmed = new MemoryFile(before);
  }

  change(change: Change): void {
    this.pending.push(change);
  }

  syncBegins(): void {
    this.syncing = this.pending.length;
  }

  syncEnds(): void {
    for (const change of this.pending.splice(0, this.syncing)) this.confirmed.apply(change);
    this.syncing = 0;
  }

  contentAfterLoss(chance: Chance, losesPending: boolean): Buffer {
    if (losesPending) return this.confirmed.content();
    const file = new MemoryFile(this.confirmed.content());
    for (const change of this.pending) if (chance.happens(0.5)) file.apply(tearWrite(change, chance));
    return file.content();
  }
}

class MemoryFile {
  private bytes: Buffer;
  private length: number;

  constructor(content: Buffer) {
    this.bytes = Buffer.from(content);
    this.length = content.length;
  }

  apply(change: Change): void {
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

/** Returns a write, truncated to its first sectors in one of five cases. */
function tearWrite(change: Change, chance: Chance): Change {
  if (change.kind === "cut" || chance.happens(0.8)) return change;
  const sectors = chance.integer(0, Math.floor(change.bytes.length / sectorBytes));
  return { ...change, bytes: change.bytes.subarray(0, sectors * sectorBytes) };
}

export interface PowerLossSummary {
  /** Simulated losses of power. */
  readonly losses: number;
  /** Losses after which a charge of an older answer was missing, or the file unsound. */
  readonly broken: number;
  /** Answers sent before the losses, in total, and those of them whose charges are lost. */
  readonly answers: number;
  readonly lost: number;
  /** The first fault. */
  readonly first: string | undefined;
}

/** Simulates losses of power at random moments of a recording, and checks the remaining files. */
export async function simulatePowerLosses(
  folder: string,
  recording: Recording,
  chance: Chance,
  losses: number,
): Promise<PowerLossSummary> {
  const { events } = recording;
  const moments = new Map<number, number>();
  for (let loss = 0; loss < losses; loss += 1) {
    const moment = chance.integer(0, events.length - 1);
    moments.set(moment, (moments.get(moment) ?? 0) + 1);
  }
  const disk = { database: new SimulatedFile(recording.before.database), wal: new SimulatedFile(recording.before.wal) };
  const answered: Answer[] = [];
  let isFolderSynced = false;
  let summary: PowerLossSummary = { losses: 0, broken: 0, answers: 0, lost: 0, first: undefined };
  for (const [moment, event] of events.entries()) {
    if (event.kind === "answered") answered.push(event);
    else if (event.kind === "written" || event.kind === "cut") disk[event.file].change(event);
    else if (event.file === "folder") isFolderSynced ||= event.kind === "syncEnds";
    else disk[event.file][event.kind]();
    for (let times = moments.get(moment) ?? 0; times > 0; times -= 1) {
      const losesPending = chance.happens(0.5);
      const lossFolder = join(folder, `loss-${summary.losses}`);
      mkdirSync(lossFolder);
      const path = join(lossFolder, "accounts.db");
      writeFileSync(path, disk.database.contentAfterLoss(chance, losesPending));
      if (isFolderSynced) writeFileSync(`${path}-wal`, disk.wal.contentAfterLoss(chance, losesPending));
      const { fault, lost } = await checkAfterLoss(path, answered);
      summary = {
        losses: summary.losses + 1,
        broken: summary.broken + Number(fault !== undefined),
        answers: summary.answers + answered.length,
        lost: summary.lost + lost,
        first: summary.first ?? (fault && `after event ${moment} of ${events.length}: ${fault}`),
      };
    }
  }
  return summary;
}

/** Returns the fault of a file after a loss of power, and how many of the answers lost their charge. */
async function checkAfterLoss(
  path: string,
  answered: readonly Answer[],
): Promise<{ readonly fault: string | undefined; readonly lost: number }> {
  try {
    return await useAndClose(openAccounts(path, { busyMs: 0 }), async (database) => {
      const charges = await database.all(sql`SELECT entry_id FROM entries WHERE kind = 'charge'`);
      const stored = new Set(charges.map((row) => textIn(row, "entry_id")));
      const missing = answered.filter(({ chargeId }) => !stored.has(chargeId));
      const times = missing.map(({ atMs }) => atMs);
      const spanMs = Math.max(...times) - Math.min(...times);
      const late = `${missing.length} of ${answered.length} answers lost their charge, of ${spanMs} ms`;
      return { fault: spanMs > lostMsMax ? late : (await audit(database)).faults[0], lost: missing.length };
    });
  } catch (thrown) {
    return { fault: String(thrown), lost: 0 };
  }
}

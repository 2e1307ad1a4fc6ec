/**
 * Destination of the service's log: standard error, through a bounded buffer. It never blocks and never throws. While standard error
 * does not accept lines (a full disk, a pipe whose reader is stopped or gone), lines beyond the buffer are dropped and counted.
 */
import { constants, fstatSync, openSync, write, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { exitOnOutputError } from "../base/exits.ts";
import { isObject } from "../base/json.ts";

/** Lines that wait for standard error; lines beyond this size are dropped. */
const bytesMax = 2 ** 20;

/** Lines are written when this much waits, or after this time. */
const chunkBytes = 4096;
const flushMs = 100;

/** How soon a write is repeated: to a full pipe, and after an error. */
const fullPipeMs = 10;
const retryMs = 1000;

/** How long a stopping service waits for the last write. */
const lastWriteMs = 1000;

type WriteDone = (error: NodeJS.ErrnoException | null | undefined, written: number) => void;

const standardError = 2;

export class LogDestination {
  private lines: string[] = [];
  /** The rest of the chunk that is being written. */
  private rest: Buffer = Buffer.alloc(0);
  /** Characters in `lines` and bytes in `rest`. */
  private size = 0;
  private isWriting = false;
  private isFailing = false;
  private timer: NodeJS.Timeout | undefined;
  private dropped = 0;
  private reported = 0;
  private readonly output = openStandardError();

  /** Calls `onRecovery` with the number of dropped lines once standard error has accepted everything that was kept. */
  constructor(private readonly onRecovery: (lines: number) => void) {
    process.stderr.off("error", exitOnOutputError).on("error", () => undefined);
    process.once("exit", () => this.flushAtExit());
  }

  get droppedLines(): number {
    return this.dropped;
  }

  /** Adds a line, which ends with a newline. Lines are written together: writing each one alone costs as much as a look-up. */
  write(line: string): void {
    if (this.size + line.length > bytesMax) {
      this.dropped += 1;
      return;
    }
    this.lines.push(line);
    this.size += line.length;
    if (this.size >= chunkBytes && !this.isFailing) this.flush();
    else this.flushAfter(flushMs);
  }

  /** Writes the buffer. Returns false if that takes longer than `lastWriteMs` or fails. */
  async close(): Promise<boolean> {
    this.flush();
    for (const endMs = performance.now() + lastWriteMs; this.size > 0; await sleep(5)) {
      if (performance.now() > endMs || (this.isFailing && !this.isWriting)) return false;
      this.flush();
    }
    return true;
  }

  private flushAfter(ms: number): void {
    this.timer ??= setTimeout(() => this.flush(), ms).unref();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isWriting || this.size === 0) return;
    if (this.rest.length === 0) this.takeLines();
    this.isWriting = true;
    this.output.write(this.rest, (error, written) => {
      this.isWriting = false;
      const isFull = error?.code === "EAGAIN";
      this.isFailing = error !== undefined && error !== null && !isFull;
      if (isFull) this.flushAfter(fullPipeMs);
      else if (this.isFailing) this.flushAfter(retryMs);
      else this.advance(written);
    });
  }

  private takeLines(): void {
    this.rest = Buffer.from(this.lines.join(""));
    this.lines = [];
    this.size = this.rest.length;
  }

  private advance(written: number): void {
    this.rest = this.rest.subarray(written);
    this.size -= written;
    if (this.size > 0) this.flushAfter(this.size >= chunkBytes || this.rest.length > 0 ? 0 : flushMs);
    else if (this.dropped > this.reported) {
      const lines = this.dropped - this.reported;
      this.reported = this.dropped;
      this.onRecovery(lines);
    }
  }

  /** Tries once to write the rest of the buffer, for a process that ends without `close`. */
  private flushAtExit(): void {
    if (this.isWriting || this.isFailing || this.size === 0) return;
    if (this.rest.length === 0) this.takeLines();
    try {
      this.output.writeAtExit(this.rest);
    } catch {
      // No output remains to report the error.
    }
  }
}

/** Fields of log lines that people do not need. */
const machineFields = new Set(
  "level time pid hostname msg method path query status ms bytes ip account key requestId traceId parentId".split(" "),
);

/**
 * Returns a JSON line of the log as a line for people: time, level unless it is `info`, what happened, and its other fields. Returns nothing for the
 * operations of a page, which has a line itself. Control characters, which a terminal would obey, become `?`.
 */
export function readableLine(json: string): string {
  const line: unknown = JSON.parse(json);
  if (!isObject(line) || line.parentRequestId !== undefined) return "";
  const { time, level, msg, method, path, query, status, ms } = line;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const label = pino.levels.labels[Number(level)] ?? "";
  const request = `${status} ${method} ${path}${query === undefined ? "" : `?${query}`} ${ms} ms`;
  const fields = Object.entries(line).flatMap(([name, value]) =>
    machineFields.has(name) ? [] : `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const parts = [clock, label === "info" ? "" : label.toUpperCase(), method === undefined ? msg : request, ...fields];
  return `${parts.filter((part) => part !== "").join("  ")}\n`.replaceAll(/(?!\n$)\p{Cc}/gu, "?");
}

interface Output {
  write(chunk: Buffer, done: WriteDone): void;
  /** Writes as much as possible without blocking. */
  writeAtExit(chunk: Buffer): void;
}

/**
 * Opens standard error for writes that do not block. A blocked write to a pipe would keep the process from exiting, so a pipe is opened
 * again: the flags of the inherited one are shared with other processes, which can change them. A socket, or a pipe of another user,
 * cannot be opened again; its stream does not block unless another process changes the flags.
 */
function openStandardError(): Output {
  const kind = fstatSync(standardError);
  const fd = kind.isFIFO() ? openPipeAgain() : kind.isSocket() ? undefined : standardError;
  if (fd !== undefined)
    return { write: (chunk, done) => write(fd, chunk, done), writeAtExit: (chunk) => void writeSync(fd, chunk) };
  return {
    write: (chunk, done) => void process.stderr.write(chunk, (error) => done(error, chunk.length)),
    writeAtExit: (chunk) => void process.stderr.write(chunk),
  };
}

/** Returns undefined if the system does not allow it. */
function openPipeAgain(): number | undefined {
  try {
    return openSync(`/proc/self/fd/${standardError}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

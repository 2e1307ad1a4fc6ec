/**
 * Runs `carquet` in other processes, which a worker thread starts and waits for: to start one takes as long as the system lets the new process wait, and to
 * reap one as long as its last thread needs at the lowest priority, which were seconds on a busy machine. The worker starts at the first program, serves
 * the whole process and does not keep it running.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { sharedWorker } from "./worker-threads.ts";

/** A program to run. A message on the port kills it. */
export interface ProgramRequest {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where its events are sent; it closes after the last. */
  readonly events: MessagePort;
}

export interface ProgramEnd {
  /** Null if a signal ended the process. */
  readonly code: number | null;
  /** The beginning of its standard error. */
  readonly errors: string;
}

export type ProgramEvent = { readonly message: unknown } | ProgramEnd | { readonly fault: string };

interface ProgramOptions {
  readonly signal: AbortSignal;
  /** Environment variables that differ from those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

const threadInUse = sharedWorker(new URL("./program-worker.ts", import.meta.url));

/**
 * Runs `carquet` in a separate process at a low priority, until it ends or the signal kills it. Rejects with the reason of the signal when it
 * aborts. Passes the messages of the process to `onMessage`.
 */
export async function runProgram(
  args: readonly string[],
  { signal, environment = {} }: ProgramOptions,
  onMessage: (message: unknown) => void = () => undefined,
): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const { port1: events, port2 } = new MessageChannel();
  let end: ProgramEnd | { readonly fault: string } = { fault: "The thread that starts processes has ended." };
  events.on("message", (event: ProgramEvent) => {
    if ("message" in event) onMessage(event.message);
    else end = event;
  });
  const closed = once(events, "close");
  const kill = (): void => events.postMessage("kill");
  signal.addEventListener("abort", kill, { once: true });
  try {
    threadInUse().postMessage({ args, environment, events: port2 } satisfies ProgramRequest, [port2]);
    await closed;
    signal.throwIfAborted();
    if ("fault" in end) throw new Error(end.fault);
    return end;
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

/**
 * Priorities of other processes. A program's engine has the lowest, its main thread a higher one: it watches the memory of the engine, and at the lowest
 * priority would wait 0.2 s for a processor that others use while the engine has the other.
 */
export const programPriority = 10;
export const lowestPriority = 19;

/** Sets the priority of a process and the threads that it starts, and lets the kernel end it first when memory is short. A sandbox may forbid both. */
export function yieldResources(pid: number, priority: number): void {
  const ignore = (work: () => void): void => {
    try {
      work();
    } catch {}
  };
  ignore(() => setPriority(pid, priority));
  ignore(() => writeFileSync(`/proc/${pid}/oom_score_adj`, "1000"));
}

/**
 * Runs `carquet` in other processes, which a worker thread starts and waits for: to start one takes as long as the system lets the new process wait, and to
 * reap one as long as its last thread needs at the lowest priority, which were seconds on a busy machine. The worker starts at the first program, serves
 * the whole process and does not keep it running.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { MessageChannel, type Worker } from "node:worker_threads";
import type { ProgramEnd, ProgramEvent, ProgramRequest } from "./program-worker.ts";
import { startWorker } from "./worker-threads.ts";

interface ProgramOptions {
  readonly signal: AbortSignal;
  /** Environment variables that differ from those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

let thread: Worker | undefined;

function threadInUse(): Worker {
  if (thread !== undefined) return thread;
  const started = startWorker(new URL("./program-worker.ts", import.meta.url), undefined);
  const forget = (): void => {
    if (thread === started) thread = undefined;
  };
  started.on("error", forget).on("exit", forget).unref();
  thread = started;
  return started;
}

/**
 * Runs `carquet` in a separate process at the lowest priority, until it ends or the signal kills it. Rejects with the reason of the signal when it
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

const lowestPriority = 19;

/** Sets the lowest priority for a process and its threads, and lets the kernel end it first when memory is short. A sandbox may forbid both. */
export function yieldResources(pid: number): void {
  const ignore = (work: () => void): void => {
    try {
      work();
    } catch {}
  };
  ignore(() => setPriority(pid, lowestPriority));
  ignore(() => writeFileSync(`/proc/${pid}/oom_score_adj`, "1000"));
}

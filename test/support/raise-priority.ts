import { setPriority } from "node:os";

/** Raises the priority of a process, or of this thread if it is 0: on Linux, each thread has its own. Only root may; else nothing happens. */
export function raisePriority(pid: number, priority: number): void {
  try {
    setPriority(pid, priority);
  } catch {}
}

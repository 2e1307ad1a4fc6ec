/**
 * Beginnings: when the work of a request may begin in the thread that answers. In a turn of the event loop requests begin for some milliseconds; those of
 * the account go first whose requests have held the event loop for the least time (see `FairShares`).
 */
import { turnMs } from "../base/concurrency.ts";
import { FairShares } from "./fair-shares.ts";

/** What waits, by account. */
const waiting = new Map<string, (() => void)[]>();
const shares = new FairShares();
let isTurnTaken = false;
let endsAtMs = 0;

/** Resolves when work for an account may begin: at once if nothing waits and this turn of the event loop has time left. */
export function turnToBegin(account: string): Promise<void> {
  if (!isTurnTaken) takeTurn();
  const nowMs = performance.now();
  if (waiting.size === 0 && nowMs < endsAtMs) {
    afterMicrotasks(shares.start(account, nowMs));
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const own = waiting.get(account);
    if (own === undefined) waiting.set(account, [resolve]);
    else own.push(resolve);
  });
}

function takeTurn(): void {
  isTurnTaken = true;
  endsAtMs = performance.now() + turnMs;
  setImmediate(() => {
    isTurnTaken = false;
    if (waiting.size === 0) return shares.reset();
    takeTurn();
    beginNext();
  });
}

function beginNext(): void {
  const nowMs = performance.now();
  const { account } = shares.leastUsed(waiting.keys(), nowMs);
  const [begin, ...later] = waiting.get(account) ?? [];
  if (later.length > 0) waiting.set(account, later);
  else waiting.delete(account);
  const end = shares.start(account, nowMs);
  begin?.();
  afterMicrotasks((endedAtMs) => {
    end(endedAtMs);
    if (waiting.size > 0 && endedAtMs < endsAtMs) beginNext();
  });
}

/** Calls back when what has just begun awaits something else: ticks that a microtask adds run after all microtasks. */
function afterMicrotasks(onEnd: (nowMs: number) => void): void {
  queueMicrotask(() => process.nextTick(() => onEnd(performance.now())));
}

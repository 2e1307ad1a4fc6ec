/**
 * Turns of the event loop, which the requests of all accounts share: in a turn, work begins or goes on for some milliseconds; that of the account goes
 * first which has held the event loop for the least time lately (see `FairShares`). Others' messages and connections are served between two turns.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { FairShares } from "./fair-shares.ts";

/** How long work may hold the event loop before the next turn. */
export const turnMs = 1;

/** In place of an account: what the service does for itself, such as opening the next version, has a share like one. */
const ownAccount = "service";

/** Returns the account that the present work counts for, which may be known later than its first turn. */
const accounts = new AsyncLocalStorage<() => string>();

/** What waits, by account. */
const waiting = new Map<string, (() => void)[]>();
const shares = new FairShares();
let isTurnTaken = false;
let endsAtMs = 0;

/** Runs work whose turns, and connections to the accounts, count for what `account` returns then. */
export const inShareOf = <T>(account: () => string, work: () => Promise<T>): Promise<T> => accounts.run(account, work);

/** Runs work in its turn, in the share of an account. */
export const inTurnOf = <T>(account: string, work: () => Promise<T>): Promise<T> =>
  inShareOf(
    () => account,
    () => turnSoon().then(work),
  );

/** Runs work that some accounts wait for, in the share of that account of them which has used the least. Others can be added meanwhile. */
export const inShareOfLeast = <T>(waitingAccounts: ReadonlySet<string>, work: () => Promise<T>): Promise<T> =>
  inShareOf(() => shares.leastUsed(waitingAccounts, performance.now()).account, work);

/** Resolves when the present work may begin or go on: at once if nothing waits and this turn has time left. */
export function turnSoon(): Promise<void> {
  if (!isTurnTaken) takeTurn();
  const nowMs = performance.now();
  if (waiting.size > 0 || nowMs >= endsAtMs) return turnLater();
  afterMicrotasks(shares.start(presentAccount(), nowMs));
  return Promise.resolve();
}

/** Resolves in a later turn, in which the present work may go on. */
export function turnLater(): Promise<void> {
  if (!isTurnTaken) takeTurn();
  const account = presentAccount();
  return new Promise((resolve) => {
    const own = waiting.get(account);
    if (own === undefined) waiting.set(account, [resolve]);
    else own.push(resolve);
  });
}

/** Passes each item to `work`, in as many turns as it needs: the time of a turn includes what was done in it before. */
export async function forEachInTurns<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  if (!isTurnTaken) takeTurn();
  for (const item of items) {
    work(item);
    if (performance.now() >= endsAtMs) await turnLater();
  }
}

/** Returns the account that the present work counts for. */
export const presentAccount = (): string => accounts.getStore()?.() ?? ownAccount;

function takeTurn(): void {
  isTurnTaken = true;
  endsAtMs = performance.now() + turnMs;
  setImmediate(() => {
    isTurnTaken = false;
    if (waiting.size === 0) return;
    takeTurn();
    goOn();
  });
}

function goOn(): void {
  const nowMs = performance.now();
  const { account } = shares.leastUsed(waiting.keys(), nowMs);
  const own = waiting.get(account) ?? [];
  const resolve = own.shift();
  if (own.length === 0) waiting.delete(account);
  const end = shares.start(account, nowMs);
  resolve?.();
  afterMicrotasks((endedAtMs) => {
    end(endedAtMs);
    if (waiting.size > 0 && endedAtMs < endsAtMs) goOn();
  });
}

/** Calls back when what has just gone on awaits something else: ticks that a microtask adds run after all microtasks. */
function afterMicrotasks(onEnd: (nowMs: number) => void): void {
  queueMicrotask(() => process.nextTick(() => onEnd(performance.now())));
}

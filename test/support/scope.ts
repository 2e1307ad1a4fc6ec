/** Cleans up what a test created, latest first. */
import { after } from "node:test";

type Cleanup = () => Promise<void>;

/** Anything that runs work at its end: a test, or all tests of a file. */
export interface Scope {
  after(work: Cleanup): void;
}

/** Scope of all tests in a file. */
export const fileScope: Scope = { after: (work) => after(work) };

const cleanupsByScope = new WeakMap<Scope, Cleanup[]>();

/** Registers cleanup that runs before earlier cleanup: a service stops before its folder is removed. */
export function onScopeEnd(scope: Scope, work: Cleanup): void {
  const known = cleanupsByScope.get(scope);
  if (known !== undefined) {
    known.push(work);
    return;
  }
  const cleanups = [work];
  cleanupsByScope.set(scope, cleanups);
  scope.after(() => cleanUp(cleanups));
}

/** Runs all cleanup, latest first. Continues after a failure and throws it at the end. */
async function cleanUp(cleanups: Cleanup[]): Promise<void> {
  const work = cleanups.pop();
  if (work === undefined) return;
  try {
    await work();
  } finally {
    await cleanUp(cleanups);
  }
}

/** Runs work in a scope, and then its cleanup, also after a failure. */
export async function withScope<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  const works: Cleanup[] = [];
  try {
    return await work({ after: (cleanup) => works.push(cleanup) });
  } finally {
    await cleanUp(works);
  }
}

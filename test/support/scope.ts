/** Releases the resources of a test, latest first. */
import { after } from "node:test";

type Cleanup = () => Promise<void>;

/** Anything that runs work at its end: a test, or all tests of a file. */
export interface Scope {
  after(work: Cleanup): void;
}

let fileWorks: Cleanup[] | undefined;
let groupWorks: Cleanup[] | undefined;

export const fileScope: Scope = {
  after: (work) => {
    if (fileWorks === undefined) after(work);
    else fileWorks.push(work);
  },
};

/** Scope of all tests of a process: of the files in a group, or of one file. Files that share something use it while they are loaded. */
export const groupScope: Scope = {
  after: (work) => {
    if (groupWorks === undefined) after(work);
    else groupWorks.push(work);
  },
};

/** Runs this process as a group, whose scope ends after the tests of all its files. */
export function beginGroup(): void {
  const works: Cleanup[] = [];
  groupWorks = works;
  after(() => cleanUp(works));
}

/** Begins a file of a group; returns what ends its scope. A hook of the file's suite would be lost when it is added in a nested suite. */
export function beginFile(): Cleanup {
  const works: Cleanup[] = [];
  fileWorks = works;
  return () => cleanUp(works);
}

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
  scope.after(() => {
    // The files of a group share the object `fileScope`: cleanup of the next file is registered again.
    cleanupsByScope.delete(scope);
    return cleanUp(cleanups);
  });
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

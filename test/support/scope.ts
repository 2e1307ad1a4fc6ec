/** What a test made is ended with it, the latest first. */
import { after } from "node:test";

type Work = () => Promise<void>;

/** What an ending can be tied to: a test, or a whole file's `after`. */
export interface Scope {
  after(work: Work): void;
}

/** A scope for what all tests of a file share. */
export const wholeFile: Scope = { after: (work) => after(work) };

const endings = new WeakMap<Scope, Work[]>();

/** Does something when a scope ends, before what was asked for earlier: a service stops before its folder goes. */
export function atEndOf(scope: Scope, work: Work): void {
  const known = endings.get(scope);
  if (known !== undefined) {
    known.push(work);
    return;
  }
  const works = [work];
  endings.set(scope, works);
  scope.after(() => endAll(works));
}

/** Does what was put off, the last first and all of it, also after a failure, which is told at the end. */
async function endAll(works: Work[]): Promise<void> {
  const work = works.pop();
  if (work === undefined) return;
  try {
    await work();
  } finally {
    await endAll(works);
  }
}

/** Does some work, and then, also after a failure, all that was put off until the end of its scope. */
export async function withScope<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  const works: Work[] = [];
  try {
    return await work({ after: (ending) => works.push(ending) });
  } finally {
    await endAll(works);
  }
}

/** What a test made is ended with it, the latest first. */
import { after } from "node:test";

/** What an ending can be tied to: a test, or a whole file's `after`. */
export interface Scope {
  after(work: () => Promise<void>): void;
}

/** A scope for what all tests of a file share. */
export const wholeFile: Scope = { after: (work) => after(work) };

type Work = Parameters<Scope["after"]>[0];

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
  scope.after(async () => {
    for (let last = works.pop(); last !== undefined; last = works.pop()) await last();
  });
}

/** What a soak campaign is, and the scope that its lakes and services live in. */
import type { Scope } from "../support/scope.ts";

export interface Extent {
  readonly seed: number;
  readonly draws: number;
}

export interface Campaign {
  /** What it does, in a line. */
  readonly describe: string;
  /** How many draws it makes unless told otherwise. */
  readonly draws: number;
  /** Runs it; says in a line what came of it, and fails when anything is wrong. */
  run(extent: Extent): Promise<string>;
}

/** Does some work, and then, also after a failure, all that was put off until the end, the last first. */
export async function withScope<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  const putOff: (() => Promise<void>)[] = [];
  try {
    return await work({ after: (ending) => putOff.push(ending) });
  } finally {
    for (const ending of putOff.reverse()) await ending();
  }
}

/** A server of the suite: Carquet or a peer in a process of its own, asked over HTTP. */

import type { Question } from "../questions/question.ts";
import type { PeerName } from "../settings.ts";
import type { Running } from "./carquet.ts";

/** Parses what was read; asked for outside of what is timed. */
export type Reply = () => unknown;

export interface Server<Name extends string = PeerName> {
  readonly name: Name;
  readonly version: string;
  /** The share by which its percentiles may differ; 0 when they are exact. */
  readonly tolerance: number;
  /** Asks, and reads the answer to its end. */
  readonly ask: (question: Question) => Promise<Reply>;
  /** User and system time so far, of all its processes; NaN where it is unknown. */
  readonly processorMs: () => number;
  stop(): Promise<void>;
}

/** A server that has the paths of Carquet's API and answers exactly. */
export function serverOf<Name extends string>(name: Name, version: string, running: Running): Server<Name> {
  return {
    ...{ name, version, tolerance: 0, processorMs: running.processorMs },
    ask: async ({ path }) => {
      const body = await running.fetch(path);
      return () => JSON.parse(body);
    },
    stop: () => running.stop(),
  };
}

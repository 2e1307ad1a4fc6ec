/** Fuzzed targets: a generator of cases, a property that each case must have, and a corpus of earlier cases in a file. */
import { readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { projectPath } from "../../../src/base/project-files.ts";
import { messageOf } from "../../../src/base/user-error.ts";

export interface Target<Case> {
  /** Name of the file in `test/fixtures/fuzz/`, with a case in each line as JSON. */
  readonly name: string;
  readonly cases: fc.Arbitrary<Case>;
  /** Rejects if a case lacks the property. Returns whether the case was accepted or refused. */
  readonly check: (tried: Case) => Promise<"accepted" | "refused">;
}

export interface FuzzSummary {
  readonly accepted: number;
  readonly refused: number;
  /** The failure with the smallest case that was found; it is added to the corpus. */
  readonly failure?: string;
}

const corpusPath = (name: string): string => projectPath(`test/fixtures/fuzz/${name}.ndjson`);

/** Returns the cases of a corpus. They are as old as the file, so that a property may refuse their shape. */
export const corpusOf = <Case>({ name }: Target<Case>): readonly Case[] =>
  readFileSync(corpusPath(name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Case => JSON.parse(line));

/** Checks drawn cases; adds a case that fails to the corpus, shrunk. */
export async function fuzz<Case>(target: Target<Case>, draws: number, seed: number): Promise<FuzzSummary> {
  const counts = { accepted: 0, refused: 0 };
  const property = fc.asyncProperty(target.cases, async (tried) => {
    counts[await target.check(tried)] += 1;
  });
  const { failed, counterexample, errorInstance } = await fc.check(property, { numRuns: draws, seed });
  if (!failed) return counts;
  const [smallest] = counterexample ?? [];
  const line = JSON.stringify(smallest);
  const corpus = readFileSync(corpusPath(target.name), "utf8");
  if (!corpus.includes(`${line}\n`)) writeFileSync(corpusPath(target.name), `${corpus}${line}\n`);
  return { ...counts, failure: `${target.name}: ${line}: ${messageOf(errorInstance)}` };
}

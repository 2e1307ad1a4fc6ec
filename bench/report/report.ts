/** Reports results: as tables on standard output, and as JSON in a file. */
import { writeFile } from "node:fs/promises";
import { describeMachine } from "../measure/machine.ts";
import type { Measurement, Results } from "./results.ts";
import { formatText } from "./tables.ts";

/** Prints results, and writes them if a path is given. */
export async function reportResults(results: Results, path: string | undefined): Promise<void> {
  process.stdout.write(`${formatText(results)}\n`);
  if (path !== undefined) await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
}

interface About {
  readonly title: string;
  readonly notes?: readonly string[];
  /** Versions of programs other than Carquet and Node.js. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** Reports measurements on this machine. */
export const reportMeasurements = async (
  { title, notes = [], programs = {} }: About,
  measurements: readonly Measurement[],
  path: string | undefined,
): Promise<void> => reportResults({ title, notes, ...(await describeMachine(programs)), measurements }, path);

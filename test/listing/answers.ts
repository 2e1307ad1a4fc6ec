/**
 * A program that prints what this copy of the project answers about a lake, by the index and by Parquet alone. Its argument is JSON: the
 * `lake`, the `feeds` to ingest into it before, and the `paths` to answer.
 */
import { deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { answerOf } from "../support/versions.ts";

export interface AskedPaths {
  readonly lake: string;
  readonly feeds?: string;
  readonly paths: readonly string[];
}

/** What a version answers to each path; whether an index searched for it. */
export interface Answers {
  readonly hasIndex: boolean;
  readonly bodies: readonly unknown[];
}

async function answersOf({ lake, paths }: AskedPaths, hasServingFiles: boolean): Promise<Answers> {
  const version = await LakeVersion.open(lake, (await currentManifest(lake))?.version ?? "", { hasServingFiles });
  const bodies: unknown[] = [];
  for (const path of paths) bodies.push(await answerOf(version, path));
  const hasIndex = version.served.index;
  version.close();
  return { hasIndex, bodies };
}

const [, , argument] = process.argv;
if (argument !== undefined) {
  const asked: AskedPaths = JSON.parse(argument);
  if (asked.feeds !== undefined) await ingest(asked.lake, await deliveriesAt(asked.feeds, undefined), {});
  const answers: readonly Answers[] = [await answersOf(asked, true), await answersOf(asked, false)];
  process.stdout.write(JSON.stringify(answers));
}

/**
 * Child program: prints a lake's answers as JSON, twice: from serving files, and without them. Its
 * argument is JSON: the `lake`, the `feeds` to ingest into it first, and the `paths` to answer.
 */
import { deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { answerPath } from "../support/versions.ts";

export interface AnswerRequest {
  readonly lake: string;
  readonly feeds?: string;
  readonly paths: readonly string[];
}

/** A version's answer to each path, and whether it used an index. */
export interface LakeAnswers {
  readonly hasIndex: boolean;
  readonly bodies: readonly unknown[];
}

async function answersOf({ lake, paths }: AnswerRequest, hasServingFiles: boolean): Promise<LakeAnswers> {
  const version = await LakeVersion.open(lake, (await currentManifest(lake))?.version ?? "", { hasServingFiles });
  const bodies: unknown[] = [];
  for (const path of paths) bodies.push(await answerPath(version, path));
  const hasIndex = version.served.index;
  version.close();
  return { hasIndex, bodies };
}

const [, , argument] = process.argv;
if (argument !== undefined) {
  const request: AnswerRequest = JSON.parse(argument);
  if (request.feeds !== undefined) await ingest(request.lake, await deliveriesAt(request.feeds, undefined), {});
  const answers: readonly LakeAnswers[] = [await answersOf(request, true), await answersOf(request, false)];
  process.stdout.write(JSON.stringify(answers));
}

/** The change feed, operation `listChanges`: the changes of a search between two versions, page by page. */
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf, RequestOf } from "../../contract/types.ts";
import { compareVersions } from "../../lake/manifest.ts";
import { requireKept } from "../../serving/kept-versions.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { cursorOf, positionOfCursor } from "../cursors.ts";
import { resolveFields } from "../fields.ts";
import { filtersOf } from "../filters.ts";
import { originOf } from "../geography.ts";
import { changesOf } from "./changes.ts";
import { pairWith } from "./version-pair.ts";

type Feed = AnswerOf<"listChanges">;

/** Returns a page of the feed, each change as JSON text. Refuses a `since` that is not kept, or newer than the version. */
export async function listChangesOf(
  request: RequestOf<"listChanges">,
  version: LakeVersion,
): Promise<{ readonly texts: readonly string[]; readonly pagination: Feed["pagination"]; readonly meta: object }> {
  const { query } = request;
  const { since, kinds, limit } = query;
  const position = positionOfCursor(request, /^(?<day>\d{4}-\d\d-\d\d) (?<id>[0-9a-f]{32})$/);
  const pair = await pairWith(since, version);
  requireOlder(since, version);
  const reading = changesOf(pair, version, {
    kinds,
    limit,
    filters: filtersOf(query, version.dimensions),
    after: position && { day: position.day ?? "", id: position.id ?? "" },
    fields: resolveFields(query.fields),
    origin: originOf(query),
  });
  const { texts, last, hasMore } = await reading.catch(async (thrown: unknown) => {
    // The files of the older version can have been removed meanwhile.
    await requireKept(version.folder, since, "since");
    throw thrown;
  });
  const next = hasMore && last ? cursorOf(version.manifest.version, request, `${last.day} ${last.id}`) : null;
  const meta = { since, since_as_of: pair.before.as_of, ...(kinds && { kinds }), ...version.meta };
  return { texts, pagination: { limit, next_cursor: next }, meta };
}

function requireOlder(since: string, { manifest: { version } }: LakeVersion): void {
  if (compareVersions(since, version) <= 0) return;
  const reason = `since ${since} is newer than the version ${version} that is read`;
  throw refuse("incompatible_parameters", { parameters: "since and data_version", reason });
}

/** Only damage of the search index or the row store disables it. Every other fault fails the request that met it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { refuse } from "../../src/contract/errors.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Abandoned, Job } from "../../src/db/job.ts";
import { InvalidValue, sql } from "../../src/db/sql.ts";
import { refusalOf } from "../../src/http/middleware/handle-errors.ts";
import { retryOnDamage } from "../../src/serving/files/open-serving-files.ts";
import { Segment } from "../../src/serving/index/segment.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const { lake } = await createLake(fileScope);

test("an exception that a request causes fails that request, and the index stays in use", async (scope) => {
  const reported: string[] = [];
  const version = await openVersion(scope, lake, { onFallback: (message) => reported.push(message) });
  const request = { filters: [], attributes: [], limit: 20, sort: "-count" } as const;
  const defect = version.activeOn(version.manifest.as_of).countValues({
    ...request,
    get numbers(): never {
      throw new TypeError("a defect of the caller");
    },
  });
  await assert.rejects(defect, /a defect of the caller/);
  assert.deepEqual([version.served.index, reported], [true, []]);
  const body = (await answerPath(version, "/v1/facets?facets=price")) as { readonly data: { readonly total: number } };
  assert.ok(body.data.total > 0);
  assert.equal(version.served.index, true);
});

test("look-ups of values that are no id or VIN find nothing, and the row store stays in use", async (scope) => {
  const reported: string[] = [];
  const version = await openVersion(scope, lake, { onFallback: (message) => reported.push(message) });
  const { data } = (await answerPath(version, "/v1/listings?limit=1")) as { readonly data: readonly { id: string }[] };
  const id = data[0]?.id ?? "";
  // Many endings, so that some pass a filter of ids.
  for (let ending = 0; ending < 1000; ending += 1)
    assert.deepEqual(await version.lookUp("id", `${id}zzz${ending}`, ["vin"]), []);
  for (const value of ["", "zz", id.toUpperCase(), id.slice(2), `${id}00`])
    assert.deepEqual(await version.lookUp("id", value, ["vin"]), [], value);
  await version.lookUp("vin", "a\0", ["vin"]).catch((thrown: unknown) => assert.ok(thrown instanceof InvalidValue));
  assert.equal((await version.lookUp("id", id, ["vin"])).length, 1);
  assert.deepEqual([version.served.rows, reported], [true, []]);
});

test("an index that was built but did not open leaves nothing behind: the next request builds it", async (scope) => {
  const opening = scope.mock.method(Segment, "open", () => Promise.reject(new Error("out of memory")), {
    times: 1,
  });
  const version = await openVersion(scope, lake, { hasServingFiles: false });
  assert.equal(opening.mock.callCount(), 1);
  const body = (await answerPath(version, "/v1/facets?facets=make")) as { readonly data: { readonly total: number } };
  assert.ok(body.data.total > 0);
  const attached = await version.rows(
    sql`SELECT database_name FROM duckdb_databases() WHERE database_name LIKE '%built%'`,
  );
  assert.equal(attached.length, 1);
});

test("a request that ends early does not take the columns of a day from others", async (scope) => {
  const version = await openVersion(scope, lake);
  const leaving = new Job("one");
  const staying = new Job("other");
  const read = (job: Job) => {
    const listings = version.withJob(job).activeOn(version.manifest.as_of);
    return listings.read([0, 1], ["last_checked_at"]);
  };
  const left = read(leaving);
  const rows = read(staying);
  leaving.abort(new Abandoned());
  await left.catch(() => undefined);
  assert.equal((await rows).length, 2);
});

/** Returns the error of a statement that needs more memory than the engine has. */
async function outOfMemoryError(): Promise<unknown> {
  const database = await DuckDatabase.open({ memoryLimit: "32MiB", threads: 1 });
  try {
    return await database.using((session) =>
      session.row(sql`SELECT list(range ORDER BY -range) FROM range(6_000_000)`).catch((thrown: unknown) => thrown),
    );
  } finally {
    database.close();
  }
}

const notDamaged = (): never => assert.fail("disabled");

test("a statement that runs out of memory is refused as overload, and disables nothing", async () => {
  const error = await outOfMemoryError();
  await assert.rejects(
    retryOnDamage(() => Promise.reject(error), notDamaged),
    (thrown) => thrown === error,
  );
  const { code, retryAfterSeconds } = refusalOf(error, "request");
  assert.deepEqual([code, retryAfterSeconds], ["overloaded", 2]);
});

test("a refusal passes, and a request that finds damage runs once more", async () => {
  const refusal = refuse("overloaded", {});
  await assert.rejects(
    retryOnDamage(() => Promise.reject(refusal), notDamaged),
    (thrown) => thrown === refusal,
  );
  const damaged = new Error(
    "IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2 in block",
  );
  const reported: string[] = [];
  const request = (): Promise<string> => (reported.length === 0 ? Promise.reject(damaged) : Promise.resolve("found"));
  assert.equal(await retryOnDamage(request, (fault) => reported.push(fault)), "found");
  assert.deepEqual(reported, [damaged.message]);
  await assert.rejects(
    retryOnDamage(
      () => Promise.reject(damaged),
      () => undefined,
    ),
    (thrown) => thrown === damaged,
  );
});

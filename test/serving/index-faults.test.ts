/** Only damage of the search index or the row store has it rebuilt. Every other fault fails the request, or the opening, that met it. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Abandoned, Job } from "../../src/db/job.ts";
import { InvalidValue, sql } from "../../src/db/sql.ts";
import { refusalOf } from "../../src/http/middleware/handle-errors.ts";
import { Segment } from "../../src/serving/index/segment.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const { lake } = await createLake(fileScope);

test("an exception that a request causes fails that request, and the index stays in use", async (scope) => {
  const reported: string[] = [];
  const version = await openVersion(scope, lake, { onRebuild: (message) => reported.push(message) });
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
  const version = await openVersion(scope, lake, { onRebuild: (message) => reported.push(message) });
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

test("a version whose rebuilt index does not open does not open, and leaves no files behind", async (scope) => {
  const leftovers = async (): Promise<readonly string[]> =>
    (await readdir(tmpdir())).filter((name) => name.startsWith(`carquet-serving-${process.pid}-`));
  scope.mock.method(Segment, "open", () => Promise.reject(new Error("out of memory")), { times: 1 });
  await assert.rejects(openVersion(scope, lake, { hasServingFiles: false }), /out of memory/);
  assert.deepEqual(await leftovers(), []);
  const version = await openVersion(scope, lake, { hasServingFiles: false });
  const body = (await answerPath(version, "/v1/facets?facets=make")) as { readonly data: { readonly total: number } };
  assert.ok(body.data.total > 0);
  assert.equal((await leftovers()).length, 1);
});

test("a request that ends early does not take the columns of a day from others", async (scope) => {
  const version = await openVersion(scope, lake);
  const leaving = new Job("one");
  const staying = new Job("other");
  const read = (job: Job) => {
    const listings = version.withJob(job).activeOn(version.manifest.as_of);
    return listings.read([0, 1], ["last_checked_at"], (row) => row);
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

test("a statement that runs out of memory is refused as overload", async () => {
  const { code, retryAfterSeconds } = refusalOf(await outOfMemoryError(), "request");
  assert.deepEqual([code, retryAfterSeconds], ["overloaded", 2]);
});

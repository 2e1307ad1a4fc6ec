/** The tables of a lake, as other engines find them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql, join as sqlJoin } from "../../src/db/sql.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { tableNames } from "../../src/lake/tables.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

test("every column of every file of a lake has a type that other engines read", async () => {
  const types = [
    ...["", "LIST", "BOOLEAN", "DOUBLE", "BYTE_ARRAY UTF8", "INT32 INT_16", "INT32 INT_32", "INT64 INT_64"],
    ...["INT32 DATE", "INT32 DECIMAL", "INT64 TIMESTAMP_MICROS"],
  ];
  // Together, the two have rows in every table.
  const lakes = [(await createLakeOfEveryState(fileScope)).lake, (await createLake(fileScope)).lake];
  const manifests = await Promise.all(
    lakes.map(async (lake) => ({ lake, tables: (await currentManifest(lake))?.tables })),
  );
  const paths = tableNames.flatMap((table) => {
    const found = manifests.flatMap(
      ({ lake, tables }) => tables?.[table].map(({ path }) => literal(join(lake, path))) ?? [],
    );
    assert.ok(found.length > 0, `expected a file of ${table}`);
    return found;
  });
  const database = await DuckDatabase.open();
  fileScope.after(async () => database.close());
  const columns = await database.using((session) =>
    session.rows(sql`
      SELECT file_name, name, concat_ws(' ', type, converted_type) AS type FROM parquet_schema([${sqlJoin(paths)}])`),
  );
  assert.ok(columns.length > 200);
  for (const { file_name: file, name, type } of columns)
    assert.ok(types.includes(String(type)), `${file}: ${name} ${type}`);
});

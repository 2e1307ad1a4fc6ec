/** A database with restricted files and locked settings. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDatabase, endingSettings } from "../../src/db/duckdb.ts";
import { literal, Sql, sql } from "../../src/db/sql.ts";

test("a locked database reads allowed files alone, and keeps its settings, except for those that end its threads", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "carquet-locked-"));
  const database = await DuckDatabase.open({ threads: 2 });
  t.after(async () => {
    database.close();
    await rm(folder, { recursive: true });
  });
  await Promise.all(["allowed.txt", "other.txt"].map((name) => writeFile(join(folder, name), name)));
  const readText = (name: string) =>
    database.using((session) => session.row(sql`SELECT content FROM read_text(${literal(join(folder, name))})`));
  const set = (setting: string) => database.using((session) => session.run(new Sql([`SET GLOBAL ${setting}`], [])));

  await database.lockDown([], { files: [join(folder, "allowed.txt")], unlocked: endingSettings });

  assert.deepEqual(await readText("allowed.txt"), { content: "allowed.txt" });
  await assert.rejects(readText("other.txt"), /Permission Error/);
  for (const setting of [
    "enable_external_access = true",
    "allowed_paths = ['/']",
    "allowed_configs = ['TimeZone']",
    "TimeZone = 'CET'",
    "lock_configuration = false",
  ])
    await assert.rejects(set(setting), /locked|Cannot|already/, setting);
  await database.endThreads();
  assert.deepEqual(
    await database.using((session) => session.row(sql`SELECT current_setting('threads')::INTEGER AS threads`)),
    { threads: 1 },
  );
});

test("a database that is locked wholly cannot end its threads", async (t) => {
  const database = await DuckDatabase.open({ threads: 2 });
  t.after(() => database.close());
  await database.lockDown([]);
  await assert.rejects(database.endThreads(), /locked/);
});

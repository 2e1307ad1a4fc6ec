import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "../../src/db/sql.ts";
import { createPrivateFile, SqliteDatabase } from "../../src/db/sqlite.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

interface Words {
  readonly folder: string;
  readonly path: string;
  readonly database: SqliteDatabase;
  all(): readonly unknown[];
}

/** A file with an empty table of words. */
async function wordsIn(scope: Scope, name = "a.db"): Promise<Words> {
  const folder = await temporaryFolder(scope);
  const path = join(folder, name);
  createPrivateFile(path);
  const database = SqliteDatabase.open(path, { busyMs: 10 });
  onScopeEnd(scope, async () => database.close());
  database.run(sql`CREATE TABLE words (word TEXT)`);
  return { folder, path, database, all: () => database.all(sql`SELECT word FROM words`).map(({ word }) => word) };
}

const insert = (word: string) => sql`INSERT INTO words VALUES (${word})`;

test("a missing file is not created by opening it", async (scope) => {
  const path = join(await temporaryFolder(scope), "none.db");
  for (const open of [() => SqliteDatabase.open(path, { busyMs: 10 }), () => SqliteDatabase.openToRead(path)]) {
    assert.throws(open, /none\.db: cannot be opened as a database: .*unable to open database file/);
    assert.equal(existsSync(path), false);
  }
});

test("a file name may have characters that mean something in an address", async (scope) => {
  const { path, database, folder } = await wordsIn(scope, "50% of #1? é.db");
  database.run(insert("one"));
  database.close();
  assert.deepEqual(readdirSync(folder), ["50% of #1? é.db"]);
  const reader = SqliteDatabase.openToRead(path);
  assert.equal(reader.one(sql`SELECT word FROM words`)?.word, "one");
  assert.throws(() => reader.run(insert("two")), /readonly/);
  reader.close();
});

test("a closed file is closed, also when it has prepared statements", async (scope) => {
  const { database, folder } = await wordsIn(scope);
  const query = (word: string) => database.one(sql`SELECT word FROM words WHERE word = ${word}`);
  assert.deepEqual([database.run(insert("one")), query("one")?.word, query("two")], [1, "one", undefined]);
  database.close();
  assert.deepEqual(readdirSync(folder), ["a.db"], "the log was moved into the file");
  if (process.platform === "linux") assert.doesNotMatch(readFileSync("/proc/self/maps", "utf8"), new RegExp(folder));
  assert.throws(() => query("one"));
});

test("a transaction that throws is rolled back; one within another is refused", async (scope) => {
  const { database, all } = await wordsIn(scope);
  const failed = new Error("failed");
  const failing = (word: string) => () => {
    database.run(insert(word));
    throw failed;
  };
  assert.throws(() => database.transaction(failing("one")), failed);
  assert.deepEqual(all(), []);
  assert.throws(() => database.transaction(() => database.transaction(failing("two"))), /within a transaction/);
  database.transaction(() => database.run(insert("three")));
  assert.deepEqual(all(), ["three"]);
});

test("texts and whole numbers come back as they were", async (scope) => {
  const { database } = await wordsIn(scope);
  database.run(sql`CREATE TABLE things (text TEXT, whole INTEGER) STRICT`);
  const thing = { text: "é 😀 '", whole: Number.MAX_SAFE_INTEGER };
  database.run(sql`INSERT INTO things VALUES (${thing.text}, ${thing.whole})`);
  assert.deepEqual({ ...database.one(sql`SELECT text, whole FROM things WHERE whole > 0`) }, thing);
});

test("a text with a NUL is refused: the driver would cut it off there", async (scope) => {
  const { database, all } = await wordsIn(scope);
  const refusal = { name: "InvalidValue", message: "A text with a NUL cannot be a parameter." };
  assert.throws(() => database.run(insert("one\0two")), refusal);
  assert.throws(() => database.one(sql`SELECT 1 FROM words WHERE word = ${"\0"}`), refusal);
  assert.deepEqual(all(), []);
});

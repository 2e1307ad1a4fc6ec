/** Text normalization in the engine against that in JavaScript. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { textIn } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { sql } from "../../src/db/sql.ts";
import { caseFold, compareBytes } from "../../src/db/text-matching.ts";
import { matchesAll } from "../../src/query/changes/matching.ts";

test("the engine writes every Latin, Greek and Cyrillic letter small as JavaScript does", async () => {
  const database = await DuckDatabase.open({ threads: 1 });
  const rows = await database.using((session) =>
    session.rows(sql`
      SELECT letter, ${caseFold(sql`letter`)} AS folded
      FROM   (SELECT chr(code::INTEGER) AS letter FROM range(32, 8192) AS codes(code) WHERE code < 1328 OR code >= 7680)`),
  );
  database.close();
  const letters = rows.map((row) => textIn(row, "letter"));
  assert.equal(letters.length, 1296 + 512);
  assert.deepEqual(
    rows.map((row) => textIn(row, "folded")),
    letters.map((letter) => letter.toLowerCase()),
  );
});

test("the feed of changes matches a text that ends with a sigma in any of its forms, as search does", async () => {
  const forms = ["ΑΛΦΑΣ", "Αλφας", "αλφασ"];
  const database = await DuckDatabase.open({ threads: 1 });
  const found = await database.using(async (session) => {
    await session.run(sql`CREATE TABLE listings AS SELECT unnest(${forms}) AS exterior_color`);
    const counts: unknown[] = [];
    for (const value of [...forms, "\0"]) {
      const isMatch = matchesAll([{ kind: "anyOf", attribute: "exterior_color", values: [value] }]);
      counts.push((await session.row(sql`SELECT count(*)::INTEGER AS n FROM listings WHERE ${isMatch}`))?.n);
    }
    return counts;
  });
  database.close();
  assert.deepEqual(found, [3, 3, 3, 0]);
});

test("texts are ordered by their bytes, which is the order of the engine, and not that of UTF-16", async () => {
  const characters = ["", "a", "b", "é", "z\u0301", "\ud7ff", "\ue000", "\uffee", "😀", "😁", "🚗", "\u{10ffff}"];
  const texts = characters.flatMap((one) => characters.flatMap((other) => [one + other, `A${one}${other}`]));
  const database = await DuckDatabase.open({ threads: 1 });
  const ordered = await database.using((session) =>
    session.rows(sql`SELECT DISTINCT unnest(${texts}) AS text ORDER BY text`),
  );
  database.close();
  assert.deepEqual(
    ordered.map((row) => textIn(row, "text")),
    [...new Set(texts)].sort(compareBytes),
  );
  assert.notDeepEqual([...new Set(texts)].sort(), [...new Set(texts)].sort(compareBytes));
});

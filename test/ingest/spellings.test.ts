/** Values that dealers spell differently. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";

const [north, south] = [dealerIdOf(1), dealerIdOf(2)];
const dealers = [
  { dealer_id: north, name: "North" },
  { dealer_id: south, name: "South" },
];

/** Attributes of an open vocabulary, each with a word that no reference list has. */
const words: FeedRow = {
  ...{ make: "Veritas", model: "Scorpion", trim: "Comète", body_type: "Barquette", engine: "2.0L Bmw 328" },
  ...{
    exterior_color: "Ravenglass",
    base_exterior_color: "Mauve",
    interior_color: "Oxblood",
    base_interior_color: "Puce",
  },
};

const upperCased = Object.fromEntries(
  Object.entries(words).map(([field, word]) => [field, String(word).toUpperCase()]),
);

test("the first spelling of a value in the lake is kept, however later rows spell it", async (context) => {
  const folder = await temporaryFolder(context);
  await writeFeeds(folder, "2026-03-01", {
    dealers,
    inventory: [{ vin: vinOf(1), dealer_id: north, year: 2024, ...words }],
  });
  const others = [2, 3, 4].map((n) => ({ vin: vinOf(n), dealer_id: south, year: 2024, ...upperCased }));
  await writeFeeds(folder, "2026-03-02", { inventory: others });
  const lake = `${folder}/lake`;
  await ingestPath(lake, folder);
  for (const [field, word] of Object.entries(words)) {
    const found = await queryLake(lake, `SELECT DISTINCT "${field}" AS word FROM active`);
    assert.deepEqual(found, [{ word }], field);
  }
  assert.equal((await queryLake(lake, "FROM active")).length, 4);
});

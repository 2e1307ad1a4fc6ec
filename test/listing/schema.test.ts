/** The schema beside the feed: every column has a field that fills it, and every field fills one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type FeedTable, feed } from "../../src/ingest/feed/feed-schema.ts";
import { attributeOf, attributes, namesIn, pricingAmounts } from "../../src/listing/schema.ts";

type Name = keyof typeof attributes;

const delivered: readonly (readonly [FeedTable, readonly Name[]])[] = [
  ["inventory", [...namesIn("listings"), ...namesIn("builds")]],
  ["dealers", namesIn("dealers")],
];

/** Fields of which an attribute's rule makes something else. */
const ofRules: Readonly<Partial<Record<FeedTable, readonly string[]>>> = {
  inventory: ["dealer_id", "observed_at", "line_items", ...pricingAmounts],
};

for (const [table, names] of delivered) {
  const fields = Object.keys(feed[table].properties);

  test(`an attribute that a field of ${table} fills has such a field`, () => {
    const filled = names.filter((name) => !["rule", "history"].includes(attributes[name].feed));
    const without = filled.filter((name) => !fields.includes(attributeOf(name).column));
    assert.deepEqual(without, []);
  });

  test(`a field of ${table} fills an attribute`, () => {
    const columns = names.map((name) => attributeOf(name).column);
    assert.deepEqual(fields.filter((field) => !columns.includes(field)).sort(), [...(ofRules[table] ?? [])].sort());
  });
}

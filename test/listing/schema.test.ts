/** Compares the schema with the feed: every attribute is filled by a field, and every field fills an attribute. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type FeedTable, feed } from "../../src/ingest/feed/feed-schema.ts";
import { pricingAmounts } from "../../src/listing/nested-types.ts";
import { attributeOf, attributes, namesIn } from "../../src/listing/schema.ts";

type Name = keyof typeof attributes;

const attributesByTable: readonly (readonly [FeedTable, readonly Name[]])[] = [
  ["inventory", [...namesIn("listings"), ...namesIn("builds")]],
  ["dealers", namesIn("dealers")],
];

/** Fields that an attribute's rule derives from. */
const ruleInputs: Readonly<Partial<Record<FeedTable, readonly string[]>>> = {
  inventory: ["dealer_id", "observed_at", "line_items", ...pricingAmounts],
};

for (const [table, names] of attributesByTable) {
  const fields = Object.keys(feed[table].properties);

  test(`every attribute filled from ${table} has a field`, () => {
    const filled = names.filter((name) => !["rule", "history", "derived", "valuation"].includes(attributes[name].feed));
    const without = filled.filter((name) => !fields.includes(attributeOf(name).column));
    assert.deepEqual(without, []);
  });

  test(`every field of ${table} fills an attribute`, () => {
    const columns = names.map((name) => attributeOf(name).column);
    assert.deepEqual(fields.filter((field) => !columns.includes(field)).sort(), [...(ruleInputs[table] ?? [])].sort());
  });
}

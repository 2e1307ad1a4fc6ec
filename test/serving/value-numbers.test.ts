/** Numbers of values in several indexes, compared with the values of the ids. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { integerIn } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { integerLiteral, join, sql } from "../../src/db/sql.ts";
import { compareValues } from "../../src/listing/values.ts";
import { groupOf, type IndexValues, valueNumbers } from "../../src/serving/index/value-numbers.ts";
import { Chance } from "../support/chance.ts";

const database = await DuckDatabase.open({ threads: 1 });
after(() => database.close());

/** All values, in their order; some differ in case only. */
const known = Array.from({ length: 120 }, (_, n) => (n % 9 === 4 ? `VALUE ${n - 1}` : `value ${n}`)).sort(
  compareValues("trim"),
);

/** An index with some of the known values, whose ids follow each other. */
const index = fc
  .tuple(fc.integer({ min: 1024, max: 9000 }), fc.constantFrom(0, 0.02, 0.5, 0.95, 1), fc.nat())
  .map(([first, share, seed]): IndexValues & { readonly ids: readonly number[] } => {
    const chance = new Chance(seed);
    const values = known.filter(() => chance.happens(share));
    return {
      ids: values.map((_, n) => first + n),
      rangeOf: () => ({ first, end: first + values.length }),
      valueOf: (id) => values[id - first] ?? "",
      valuesOf: () => values,
      sameValues: () => {
        const idsOf = (key: string): readonly number[] =>
          values.flatMap((value, n) => (value.toLowerCase() === key ? [first + n] : []));
        return [...new Set(values.map((value) => value.toLowerCase()))].map(idsOf).filter((ids) => ids.length > 1);
      },
    };
  });

test("values of random indexes have numbers in order, one for each spelling, and a group for all spellings", async () => {
  let joined = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(index, { minLength: 1, maxLength: 4 }), async (indexes) => {
      const numbers = valueNumbers("trim", indexes);
      const groups = new Map<string | undefined, number>();
      for (const one of indexes) {
        const rows = sql`SELECT unnest([${join([0, ...one.ids].map(integerLiteral))}]) AS id`;
        const numbered = numbers.in(sql`SELECT id AS id, id AS number FROM (${rows})`, sql`number`, one);
        const query = sql`SELECT id, number, ${groupOf(sql`number`, numbers.same)} AS "group" FROM (${numbered}) ORDER BY id`;
        if (numbered.text.includes("JOIN")) joined += 1;
        const found = await database.using((session) => session.rows(query));
        const textOf = (row: (typeof found)[number], name: string): string | null =>
          numbers.textOf(integerIn(row, name));
        const values = one.ids.map((id) => one.valueOf(id));
        assert.deepEqual(
          found.map((row) => textOf(row, "number")),
          [null, ...values],
        );
        assert.deepEqual(
          found.map((row) => textOf(row, "group")?.toLowerCase()),
          [undefined, ...values.map((value) => value.toLowerCase())],
        );
        for (const row of found) {
          const spelled = textOf(row, "number")?.toLowerCase();
          groups.set(spelled, groups.get(spelled) ?? integerIn(row, "group"));
          assert.equal(integerIn(row, "group"), groups.get(spelled), "spellings have one group in all indexes");
        }
        const inOrder = found.map((row) => integerIn(row, "number"));
        assert.deepEqual(
          inOrder,
          inOrder.toSorted((a, b) => a - b),
        );
      }
      assert.equal(numbers.count, new Set(indexes.flatMap((one) => one.ids.map((id) => one.valueOf(id)))).size);
    }),
    { seed: 20261127, numRuns: 120 },
  );
  assert.ok(joined > 20, `${joined} of the statements join`);
});

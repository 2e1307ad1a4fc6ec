/** The corpora of the campaign `fuzz`: cases that failed once, known attacks, and examples of what is accepted and refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decoderTarget } from "./support/fuzz/decoder.ts";
import { mappingTarget } from "./support/fuzz/mapping.ts";
import { numberTarget } from "./support/fuzz/numbers.ts";
import { withSqlTarget } from "./support/fuzz/sql.ts";
import { corpusOf, type Target } from "./support/fuzz/target.ts";

/** Checks all cases of a corpus, some of which are accepted and some refused. */
async function replay<Case>(target: Target<Case>): Promise<void> {
  const outcomes = new Set<string>();
  for (const tried of corpusOf(target)) {
    try {
      outcomes.add(await target.check(tried));
    } catch (thrown) {
      throw new Error(JSON.stringify(tried), { cause: thrown });
    }
  }
  assert.deepEqual([...outcomes].sort(), ["accepted", "refused"]);
}

test("requests are refused with a sentence, or decode to values that encode to themselves", () =>
  replay(decoderTarget));

test("mappings are refused with a line, or keep or reject every row", async (t) => replay(await mappingTarget(t)));

test("numbers are read as their form says, or are unknown with a reason", async (t) => replay(await numberTarget(t)));

test("statements of analysts change no file and read none outside the lake", (t) => withSqlTarget(t, replay));

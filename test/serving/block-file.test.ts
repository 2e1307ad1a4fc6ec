import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import lz4 from "lz4-napi";
import { classifyFault } from "../../src/db/engine-faults.ts";
import { BlockFile, BlockWriter } from "../../src/serving/rows/block-file.ts";
import { Decompressor } from "../../src/serving/rows/decompressor.ts";
import { Chance } from "../support/chance.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

const chance = new Chance(1);
const drawBytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => chance.integer(0, 255)));

async function written(scope: Scope, blocks: readonly Uint8Array[], isComplete = true): Promise<string> {
  const path = join(await temporaryFolder(scope), "blocks");
  const writer = new BlockWriter(path);
  for (const block of blocks) writer.add(block);
  if (isComplete) writer.end();
  writer.close();
  return path;
}

test("every block comes back as it was written, in any order, for any number and sizes of them", async (scope) => {
  for (const count of [1, 3, 4, 5, 100]) {
    const blocks = Array.from({ length: count }, () => drawBytes(chance.pick([0, 1, 7, 8, 300, 5000])));
    // More than a writer or a reader buffers.
    if (count === 100) blocks[50] = Buffer.alloc(3_000_000, "block");
    const file = new BlockFile(await written(scope, blocks), count);
    onScopeEnd(scope, async () => file.close());
    for (const number of chance.some([...blocks.keys()], 200))
      assert.ok(file.blockAt(number).equals(blocks[number] ?? assert.fail()));
  }
});

test("a file that was not written to its end, or that has other blocks than expected, does not open", async (scope) => {
  const blocks = Array.from({ length: 40 }, () => drawBytes(100));
  const incomplete = await written(scope, blocks, false);
  const complete = await written(scope, blocks);
  const cases = [
    [incomplete, 40],
    [complete, 39],
    [complete, 41],
    [complete, 0],
    [complete, 100_000],
  ] as const;
  for (const [path, count] of cases)
    assert.throws(
      () => new BlockFile(path, count),
      (thrown) => classifyFault(thrown) === "damaged" && new RegExp(`expected ${count} blocks`).test(String(thrown)),
    );
});

test("a closed file is not read, also when its descriptor is that of another file", async (scope) => {
  const [path, other] = await Promise.all([written(scope, [drawBytes(10)]), written(scope, [drawBytes(10)])]);
  const file = new BlockFile(path, 1);
  file.close();
  file.close();
  const opened = new BlockFile(other, 1);
  onScopeEnd(scope, async () => opened.close());
  file.close();
  assert.throws(() => file.blockAt(0), { code: "ERR_OUT_OF_RANGE" });
  assert.equal(opened.blockAt(0).length, 10);
});

test("texts come back as they were compressed, with and without matches in the dictionary", () => {
  const words = Array.from({ length: 300 }, () => drawBytes(chance.integer(1, 40)).toString("hex"));
  const dictionary = Buffer.from(words.slice(0, 150).join(" "));
  const decompressor = new Decompressor(dictionary);
  const lengths = [0, 1, 3, 4, 5, 14, 15, 16, 18, 19, 20, 254, 269, 270, 271, 525, 1000, 70_000];
  const forms: readonly ((length: number) => string)[] = [
    (length) => "a".repeat(length),
    (length) => "abc".repeat(length).slice(0, length),
    (length) => drawBytes(length).toString("hex").slice(0, length),
    (length) =>
      Array.from({ length: Math.ceil(length / 10) }, () => chance.pick(words))
        .join("é 😀")
        .slice(0, length),
  ];
  for (const length of [...lengths, ...lengths.toReversed()])
    for (const form of forms) {
      // Half of a pair of UTF-16 has no bytes.
      const text = Buffer.from(form(length)).toString();
      assert.equal(decompressor.textOf(lz4.compressSync(Buffer.from(text), dictionary)), text);
    }
});

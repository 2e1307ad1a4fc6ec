/** The first rows of NDJSON. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { firstRows } from "../../src/formats/first-rows.ts";

const limits = { rowsMax: 3, charactersMax: 1000 };

test("of a long result, no more is read than its first rows, as many as are complete within the limits", async () => {
  let bytes = 0;
  const lines = function* (width: number): Generator<Buffer> {
    for (let n = 0; ; n += 1) {
      const line = Buffer.from(`${JSON.stringify({ n, t: "ü\u2028".repeat(width) })}\n`);
      bytes += line.length;
      yield line;
    }
  };
  for (const [width, rows] of [
    [5, 3],
    [200, 2],
    [5000, 0],
  ] as const) {
    bytes = 0;
    const body = Readable.from(lines(width), { objectMode: false });
    const read = await firstRows(body, limits);
    assert.deepEqual(
      read.map(({ n }) => n),
      [0, 1, 2].slice(0, rows),
    );
    assert.ok(body.destroyed);
    assert.ok(bytes < 200_000, `${bytes} bytes of rows of ${width}`);
  }
});

test("all rows of a short result are read, from a stream or a text, with or without a last line break", async () => {
  const rows = [{ n: 1 }, { n: null }];
  const text = rows.map((row) => JSON.stringify(row)).join("\n");
  for (const body of [text, `${text}\n`, Readable.from([Buffer.from(text)]), Buffer.from(text)])
    assert.deepEqual(await firstRows(body, limits), rows);
  for (const body of ["", undefined]) assert.deepEqual(await firstRows(body, limits), []);
});

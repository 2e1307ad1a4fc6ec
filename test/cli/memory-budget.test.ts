/** The query engine's memory limit of a service. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { columnMemory, engineMemory, nodeBytes } from "../../src/cli/memory-budget.ts";

const mib = 2 ** 20;
const gib = 2 ** 30;
const defaults = { exportMemory: "1GiB", writtenExports: 2 };

describe("the query engine's memory limit of a service", () => {
  test("is what Node.js, columns and the exports leave", () => {
    assert.equal(engineMemory(defaults, 8 * gib), `${(8 - 1 - 1 - 2 * 1.5) * 1024}MiB`);
  });

  test("leaves room for the ingests of carquet run", () => {
    assert.equal(engineMemory({ ...defaults, ingestMemory: "2GiB" }, 16 * gib), `${(16 - 1 - 2 - 3 - 3) * 1024}MiB`);
  });

  test("is at most 80 % of the memory", () => {
    assert.equal(engineMemory(defaults, 100 * gib), `${80 * 1024}MiB`);
  });

  test("is large enough to answer in a small container", () => {
    assert.equal(engineMemory(defaults, gib), "256MiB");
  });

  test("is that of --memory, if it is set", () => {
    assert.equal(engineMemory({ ...defaults, memoryLimit: "50%" }, 8 * gib), "50%");
  });

  test("reads limits as DuckDB does", () => {
    for (const [exportMemory, bytes] of [
      ["10%", 0.8 * gib],
      ["1.5GB", 1.5e9],
      ["1536 MiB", 1.5 * gib],
      ["1048576kib", gib],
    ] as const)
      assert.equal(
        engineMemory({ exportMemory, writtenExports: 1 }, 8 * gib),
        `${Math.round((8 * gib - nodeBytes.service - columnMemory(8 * gib) - bytes - nodeBytes.export) / mib)}MiB`,
      );
  });
});

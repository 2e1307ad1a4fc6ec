/** Files that are hashed at their first use. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cp, rename, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { test } from "node:test";
import { sha256Of } from "../../src/base/files.ts";
import { Refusal } from "../../src/contract/errors.ts";
import { classifyFault } from "../../src/db/engine-faults.ts";
import { refusalOf } from "../../src/http/middleware/handle-errors.ts";
import type { ListedFile } from "../../src/lake/listed-file.ts";
import { VerifiedFiles, VersionFiles } from "../../src/serving/files/verified-files.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const mebibyte = 1 << 20;
const folder = await temporaryFolder(fileScope);

/** Writes a file of zeros without its blocks. It is listed with another SHA-256. */
async function largeFile(path: string): Promise<ListedFile> {
  await writeFile(join(folder, path), "");
  await truncate(join(folder, path), 256 * mebibyte);
  return { path, bytes: 256 * mebibyte, sha256: "0".repeat(64) };
}

async function smallFile(path: string, bytes: number): Promise<ListedFile> {
  await writeFile(join(folder, path), randomBytes(bytes));
  return { path, bytes, sha256: await sha256Of(join(folder, path)) };
}

const large = [await largeFile("large-1"), await largeFile("large-2")] as const;

/** Returns the share of time for which the event loop is busy while some work is done. */
async function busyShareOf(work: () => Promise<unknown>): Promise<number> {
  const before = performance.eventLoopUtilization();
  await work();
  return performance.eventLoopUtilization(before).utilization;
}

test("the event loop is free while a large file is hashed, compared with hashing it in the same thread", async () => {
  const inSameThread = await busyShareOf(() => sha256Of(join(folder, large[0].path)));
  const hash = async (): Promise<void> =>
    assert.match(
      (await new VerifiedFiles(folder).faultOf(large[0])) ?? "",
      /^large-1: invalid content: expected SHA-256 0{64}, .* found \w{64}\.$/,
    );
  // Other processes of a busy machine make the event loop look busy now and then.
  let busy = 1;
  for (let attempt = 0; attempt < 5 && busy >= inSameThread / 2; attempt += 1)
    busy = Math.min(busy, await busyShareOf(hash));
  assert.ok(busy < inSameThread / 2, `busy for ${busy} of the time, ${inSameThread} in the same thread`);
});

const readNothing = async (): Promise<void> => {};

test("a file that is damaged, written or replaced while a query reads it refuses the query, and serves the next one once it is intact", async () => {
  const file = await smallFile("read", 1000);
  const path = join(folder, file.path);
  const copy = `${path}.copy`;
  await cp(path, copy);
  const verified = new VerifiedFiles(folder);
  const during: readonly (() => Promise<unknown>)[] = [
    () => changeByte(path, 500),
    () => rename(copy, path),
    // Damaged and repaired before the query ends.
    async () => {
      await changeByte(path, 500);
      await changeByte(path, 500);
    },
    () => utimes(path, 0, 0),
  ];
  for (const [index, change] of during.entries())
    for (const fails of [false, true]) {
      if (index === 1) await cp(path, copy);
      const files = new VersionFiles(verified);
      const query = async (): Promise<void> => {
        await change();
        if (fails) throw new Error("a result of damaged bytes");
      };
      const refused = await files.reading([file], query).catch((thrown: unknown) => thrown);
      assert.equal(refused instanceof Refusal && refused.code, "data_unavailable", `${index}, ${fails}`);
      assert.deepEqual(files.damagedPaths, index === 0 ? [file.path] : [], `${index}, ${fails}`);
      if (index === 0) await changeByte(path, 500);
      await new VersionFiles(verified).reading([file], readNothing);
    }
});

for (const bytes of [1000, 2 * mebibyte])
  test(`a request for a file of ${bytes} bytes does not wait for one that needs large files`, async () => {
    const files = new VersionFiles(new VerifiedFiles(folder));
    const done: string[] = [];
    const ofMany = files.reading(large, readNothing).catch(() => done.push("large"));
    const ofOne = files.reading([await smallFile(`small-${bytes}`, bytes)], readNothing).then(() => done.push("small"));
    await Promise.all([ofMany, ofOne]);
    assert.deepEqual(done, ["small", "large"]);
  });

test("a file that is hashed in the thread is intact, damaged or unreadable", async () => {
  const files = new VerifiedFiles(folder);
  const file = await smallFile("changing", 2 * mebibyte);
  const faults = async () =>
    [await files.faultOf(file), await files.faultOf(file, "again")].map((fault) => fault?.slice(0, 27));
  assert.deepEqual(await faults(), [undefined, undefined]);
  await changeByte(join(folder, file.path), mebibyte);
  assert.deepEqual(await faults(), Array(2).fill("changing: invalid content: "));
  const absent = { ...file, path: "absent" };
  assert.match((await files.faultOf(absent)) ?? "", /^absent: not found: expected the file/);
  assert.match((await files.faultOf(absent, "again")) ?? "", /^absent: not found: expected the file/);
  assert.equal(files.damages, 2);
});

test("a file that cannot be read is not damaged, and each use reads it again", async () => {
  // Reading the memory of a process at address 0 fails with EIO.
  const file = { path: "mem", bytes: 0, sha256: "0".repeat(64) };
  const verified = new VerifiedFiles("/proc/self");
  const files = new VersionFiles(verified);
  for (const read of [
    () => verified.faultOf(file),
    () => verified.faultOf(file, "again"),
    () => files.reading([file], readNothing),
  ])
    await assert.rejects(read, (thrown) => {
      assert.match(String(thrown), /^UserError: mem: cannot be read: EIO/);
      assert.equal(classifyFault(thrown), "io error");
      const { code, message } = refusalOf(thrown, "request");
      assert.deepEqual([code, /damaged/.test(message)], ["data_unavailable", false]);
      return true;
    });
  assert.deepEqual([verified.damages, files.damagedPaths, await files.isRepaired()], [0, [], false]);
});

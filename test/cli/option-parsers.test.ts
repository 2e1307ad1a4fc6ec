/** Values of settings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command, Option } from "commander";
import { memoryParser, originsParser, sizeParser } from "../../src/cli/option-parsers.ts";
import { loadAll } from "../../src/cli/program.ts";

test("origins are separated by commas or repeated, and are such as browsers send", () => {
  const parsed = originsParser("https://App.example , http://localhost:3000");
  assert.deepEqual(parsed, ["https://app.example", "http://localhost:3000"]);
  assert.deepEqual(originsParser("*", parsed), [...parsed, "*"]);
  const refused = [
    "https://app.example/",
    "https://app.example/path",
    "https://app.example:443",
    "https://u@app.example",
  ];
  for (const text of [...refused, "ftp://app.example", "app.example", "null", "", "https://a.example,"])
    assert.throws(
      () => originsParser(text),
      /^InvalidArgumentError: Invalid origin "\S*": expected an origin as browsers/,
      text,
    );
});

test("sizes have a unit of 1000 or 1024, or none", () => {
  const parse = sizeParser("7B", "2TiB", "512MiB");
  const sizes = { "4096": 4096, "512MiB": 2 ** 29, "1.5GB": 1.5e9, "64 kib": 65_536, "2TiB": 2 ** 41, "7B": 7 };
  assert.deepEqual(Object.keys(sizes).map(parse), Object.values(sizes));
  for (const text of ["", "0", "6B", "3TiB", "-1MiB", "1e3", "5 apples", "MiB", "1.MiB", "10%"])
    assert.throws(() => parse(text), /Expected a size from 7B to 2TiB, such as 512MiB\./, text);
});

test("memory limits are sizes with a unit, or shares", () => {
  for (const text of ["64MiB", "16TiB", "700MB", "1%", "12.5 %"]) assert.equal(memoryParser(text), text);
  for (const text of ["700", "700M", "%", "-5%", "0.9%", "GiB", "63MiB", "17TiB", "100TiB"])
    assert.throws(() => memoryParser(text), /Expected a size/, text);
});

test("every size, duration and number has a least and a greatest value, which its error names", async () => {
  const all = (command: Command): readonly Option[] => [...command.options, ...command.commands.flatMap(all)];
  const options = (await loadAll())
    .flatMap(all)
    .filter(({ flags }) => /<(size|n|seconds|minutes|hours|days|MiB)>/.test(flags));
  assert.ok(options.length > 50, `${options.length} options`);
  for (const { flags, parseArg } of options)
    for (const text of ["9".repeat(15), "999TiB", "-1", "0.0000001"])
      assert.throws(
        () => parseArg?.(text, undefined),
        /Expected (?:a (?:whole )?(?:number|size).* from \S+ to \S+|1, 2, 3 or 4)/,
        `${flags} ${text}`,
      );
});

/** Values of settings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryParser, originsParser, sizeParser } from "../../src/cli/option-parsers.ts";

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
  const parse = sizeParser(1, 2 ** 41);
  const sizes = { "4096": 4096, "512MiB": 2 ** 29, "1.5GB": 1.5e9, "64 kib": 65_536, "2TiB": 2 ** 41, "7B": 7 };
  assert.deepEqual(Object.keys(sizes).map(parse), Object.values(sizes));
  for (const text of ["", "0", "3TiB", "-1MiB", "1e3", "5 apples", "MiB", "1.MiB", "10%"])
    assert.throws(() => parse(text), /Expected a size such as 512MiB or 4GiB\./, text);
});

test("memory limits are sizes with a unit, or shares", () => {
  for (const text of ["1.5 GiB", "700MB", "10%", "12.5 %"]) assert.equal(memoryParser(text), text);
  for (const text of ["700", "700M", "%", "-5%", "GiB"])
    assert.throws(() => memoryParser(text), /Expected a size/, text);
});

/** Values of settings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { originsParser } from "../../src/cli/option-parsers.ts";

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

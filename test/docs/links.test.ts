import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { anchorsIn, linksIn, pages, pageText } from "./markdown.ts";

const isElsewhere = (target: string): boolean => /^[a-z]+:/.test(target);

for (const page of pages) {
  test(`every relative link of ${page} leads to a file, and every anchor to a heading`, () => {
    const broken = linksIn(page)
      .filter((target) => !isElsewhere(target))
      .filter((target) => {
        const [path = "", anchor] = target.split("#");
        const file = path === "" ? page : normalize(join(dirname(page), path));
        if (file.startsWith("..") || !existsSync(projectPath(file))) return true;
        return anchor !== undefined && file.endsWith(".md") && !anchorsIn(file).includes(anchor);
      });
    assert.deepEqual(broken, []);
  });
}

test("every path of the project that a page names exists", () => {
  const named = pages.flatMap((page) =>
    [...pageText(page).matchAll(/`((?:src|test|bench|schemas|data\/(?:sample|reference|mappings))\/[\w./-]+)`/g)].map(
      ([, path]) => ({ page, path: path ?? "" }),
    ),
  );
  assert.ok(named.length > 50);
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(projectPath(path))),
    [],
  );
});

const images = readdirSync(projectPath("docs/images"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(projectPath("."), join(parentPath, name)));

test("every page below docs/ and every image is linked from another page", () => {
  const linked = new Set(
    pages.flatMap((page) => linksIn(page).map((target) => normalize(join(dirname(page), target.split("#")[0] ?? "")))),
  );
  const wanted = [...pages.filter((page) => page.startsWith("docs/")), ...images];
  assert.deepEqual(
    wanted.filter((path) => !linked.has(path)),
    [],
  );
});

test("no image is larger than 200 kB", () => {
  assert.deepEqual(
    images.filter((path) => statSync(projectPath(path)).size > 200_000),
    [],
  );
});

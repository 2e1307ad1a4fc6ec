/** Names of releases in the documentation and the files of deployments: they must exist. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { pages } from "./markdown.ts";

const deployed = readdirSync(projectPath("deploy"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath.slice(projectPath(".").length)}/${entry.name}`.replace(/^\//, ""));
const files = [
  ...new Set([...pages, ...deployed, "clients/typescript/README.md", "clients/python/README.md", "Containerfile"]),
];

/** Returns the matches of a pattern's first group in the files, with the name of the file. */
const namesOf = (pattern: RegExp): readonly (readonly [file: string, name: string])[] =>
  files.flatMap((file) => [...projectText(file).matchAll(pattern)].map(([, name = ""]) => [file, name] as const));

test("images, packages and folders in documentation and deployments are named by the version of package.json", () => {
  const { version } = JSON.parse(projectText("package.json"));
  const named = namesOf(/(?:carquet(?:-client)?[:-]v?|newTag: v?|ARG VERSION=)(\d+\.\d+\.\d+)/g);
  assert.ok(named.length >= 8, `${named.length} names`);
  assert.deepEqual(
    named.filter(([, name]) => name !== version),
    [],
  );
});

/** Names of git tags: in commands, in URLs of tags, archives and comparisons, and as headings of the changelog. */
const tagPattern =
  /(?:--branch[ =]|git (?:checkout|switch) |releases\/tag\/|archive\/(?:refs\/tags\/)?|tree\/|compare\/(?:\S+\.\.\.)?|^## \[)(v?\d+\.\d+\.\d+)/gm;

test("commands, links and the changelog name only tags that exist", (t) => {
  const { status, stdout } = spawnSync("git", ["tag"], { cwd: projectPath("."), encoding: "utf8" });
  if (status !== 0) return t.skip("not a git checkout");
  const tags = new Set(stdout.split("\n").map((tag) => tag.replace(/^v/, "")));
  assert.deepEqual(
    namesOf(tagPattern).filter(([, name]) => !tags.has(name.replace(/^v/, ""))),
    [],
  );
});

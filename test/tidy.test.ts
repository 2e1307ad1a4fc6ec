/** Checks of style and architecture over all sources. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import { projectPath } from "../src/base/project-files.ts";
import { folders } from "./folders.ts";

/** The lowest layer that may read the clock. */
const clockLayer = 9;

interface Source {
  /** Relative to the project, for example `src/db/duckdb.ts`. */
  readonly path: string;
  readonly text: string;
}

const sources: readonly Source[] = ["src", "test", "bench", "clients"]
  .flatMap((folder) =>
    readdirSync(projectPath(folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path) && !/node_modules|\.gen\.|\bdist\b/.test(path))
      .map((path) => join(folder, path)),
  )
  .map((path) => ({ path, text: readFileSync(projectPath(path), "utf8") }));
const productSources = sources.filter(({ path }) => path.startsWith("src/"));

/** Returns the imports of a file: paths of modules, names of packages. */
function importsOf({ path, text }: Source): readonly string[] {
  const names = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  return names.map((name) => (name.startsWith(".") ? normalize(join(dirname(path), name)) : name));
}

/** Returns the folder below `src`, or the file name of a module without one. */
const folderOf = (path: string): string => path.split("/")[1] ?? "";

const layerOf = (folder: string): number | undefined => folders[folder]?.layer;

/** Fails with every violation that `find` returns for a source. */
function assertNone(find: (source: Source) => readonly string[], checked = sources): void {
  const violations = checked.flatMap((source) => find(source).map((violation) => `${source.path}: ${violation}`));
  assert.deepEqual(violations, []);
}

test("every folder of src has a layer and imports only from lower ones", () => {
  assertNone((source) => {
    const folder = folderOf(source.path);
    const layer = layerOf(folder);
    if (layer === undefined) return [`the folder ${folder} has no layer`];
    return importsOf(source)
      .filter((path) => path.startsWith("src/") && folderOf(path) !== folder)
      .filter((path) => (layerOf(folderOf(path)) ?? Number.POSITIVE_INFINITY) >= layer)
      .map((path) => `imports ${path}, which is not in a lower layer`);
  }, productSources);
});

test("modules have no import cycle", () => {
  const graph = new Map(
    sources.map((source) => [
      source.path,
      importsOf(source).filter((path) => /^(src|test|bench|clients)\//.test(path)),
    ]),
  );
  const acyclic = new Set<string>();
  const findCycle = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (acyclic.has(path)) return undefined;
    for (const next of graph.get(path) ?? []) {
      const cycle = findCycle(next, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    acyclic.add(path);
    return undefined;
  };
  for (const path of graph.keys()) assert.equal(findCycle(path, [])?.join(" -> "), undefined);
});

test("only src/db/duckdb.ts imports DuckDB", () => {
  const importers = productSources.filter((source) => importsOf(source).some((name) => name.startsWith("@duckdb/")));
  assert.deepEqual(
    importers.map(({ path }) => path),
    ["src/db/duckdb.ts"],
  );
});

test("DuckDB's streaming calls are not used, because they can end early without an error", () => {
  assertNone(({ text }) => text.match(/\.(stream|startStream)\w*\(/g) ?? [], productSources);
});

test("no source has the type any, an open task or a silenced check", () => {
  const patterns = [
    /:\s*any\b/,
    /\bas any\b/,
    /<an[y]>/,
    /\bTO[D]O\b/,
    /\bFIX[M]E\b/,
    /@ts-(ignore|nocheck)/,
    /eslint-disabl[e]/,
  ];
  assertNone(({ text }) => patterns.flatMap((pattern) => pattern.exec(text)?.[0] ?? []));
});

test("layers below the entry points do not read the clock", () => {
  const below = productSources.filter(({ path }) => (layerOf(folderOf(path)) ?? 0) < clockLayer);
  assertNone(({ text }) => text.match(/Date\.now\(\)|new Date\(\)/g) ?? [], below);
});

test("a file has at most 500 lines", () => {
  assertNone(({ text }) => (text.split("\n").length > 501 ? [`${text.split("\n").length - 1} lines`] : []));
});

test("a folder of src keeps within its budget of lines", () => {
  const lines = new Map(Object.keys(folders).map((folder) => [folder, 0]));
  for (const path of readdirSync(projectPath("src"), { recursive: true, encoding: "utf8" })) {
    if (!/\.(tsx?|cjs|css)$/.test(path) || /\.gen\.|\bgenerated\b/.test(path)) continue;
    const folder = folderOf(`src/${path}`);
    const text = readFileSync(projectPath(`src/${path}`), "utf8");
    lines.set(folder, (lines.get(folder) ?? 0) + text.split("\n").length - 1);
  }
  const excess = [...lines].filter(([folder, count]) => count > (folders[folder]?.linesMax ?? 0));
  assert.deepEqual(
    excess.map(([folder, count]) => `src/${folder}: ${count} lines, expected at most ${folders[folder]?.linesMax}`),
    [],
  );
});

test("every module of src begins with a comment that says what it is for", () => {
  assertNone(({ text }) => (text.startsWith("/**") ? [] : ["no head comment"]), productSources);
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(readFileSync(projectPath("package-lock.json"), "utf8"), /"resolved": "https?:/);
});

test("npm ci runs no install script, and installs no telemetry", () => {
  const { packages } = JSON.parse(readFileSync(projectPath("package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
  };
  assert.match(readFileSync(projectPath(".npmrc"), "utf8"), /^ignore-scripts=true$/m);
  assert.deepEqual(
    Object.keys(packages).filter((path) => packages[path]?.hasInstallScript || path.includes("@scarf/")),
    // Their binaries are packages, or faster variants of what they do in JavaScript; their scripts are optional.
    ["node_modules/@photostructure/sqlite", "node_modules/cpu-features", "node_modules/esbuild", "node_modules/ssh2"],
  );
});

/** Returns the names that a module declares and exports, without re-exports. */
function exportedNames({ text }: Source): readonly string[] {
  const declarations =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
  return [...new Set([...text.matchAll(declarations)].map((match) => match[1] ?? ""))];
}

test("no two modules export the same name", () => {
  const modulesOf = new Map<string, string[]>();
  for (const source of sources)
    for (const name of exportedNames(source)) modulesOf.set(name, [...(modulesOf.get(name) ?? []), source.path]);
  const duplicates = [...modulesOf]
    .filter(([, modules]) => modules.length > 1)
    .map(([name, modules]) => `${name}: ${modules.join(", ")}`);
  assert.deepEqual(duplicates, []);
});

const functionLinesMax = 60;
const parametersMax = 5;

/** Returns the functions of a file that are too long or have too many parameters, with their line numbers. */
function oversizedFunctions({ path, text }: Source): readonly string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number): number => file.getLineAndCharacterOfPosition(position).line + 1;
  const violations: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const line = lineAt(node.getStart(file));
      const lines = lineAt(node.end) - line + 1;
      if (lines > functionLinesMax) violations.push(`line ${line}: a function of ${lines} lines`);
      const parameters = node.parameters.length;
      if (parameters > parametersMax) violations.push(`line ${line}: a function of ${parameters} parameters`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return violations;
}

test("a function of src or bench has at most 60 lines and five parameters", () => {
  const checked = sources.filter(({ path }) => !path.startsWith("test/"));
  assertNone(oversizedFunctions, checked);
});

test("sources cite operations and schemas of the document, not sections of a specification", () => {
  assertNone(({ text }) => text.match(/\bsections? \d[\d.]*|of the spec[i]fication/gi) ?? []);
});

test("bench imports nothing from test", () => {
  const benchSources = sources.filter(({ path }) => path.startsWith("bench/"));
  assertNone((source) => importsOf(source).filter((path) => path.startsWith("test/")), benchSources);
});

/** Phrases that no text of the project contains, and what to write instead. */
const bannedPhrases: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/of (its|their|his|her) own/i, "its own ..., a separate ..."],
  [/whatever/i, "any, regardless of, even if"],
  [/whoever|somebody|nobody/i, "the role: a client, an operator, no account"],
  [/the one that/i, "the noun: the file that"],
  [/that there (is|are)/i, "a noun phrase"],
  [/there already/i, "exists"],
  [/as (it is|they are)/i, "unchanged, exactly as"],
  [/by (itself|themselves)/i, "alone, separately"],
  [/anew/i, "again; rewrites, rebuilds"],
  // Pages ask on behalf of their reader: "Tell me when one appears".
  [/(?!tell me)tells?|told/i, "reports, states, distinguishes"],
  [/gives|gave/i, "returns, sets, assigns"],
  [/makes (an?|the|it|its|them|this|no|one|each|every)/i, "creates, builds, causes"],
  [/(?<!page )(is|are|was|were|be|been) made|made (by|of|from)/i, "is created, is built"],
  [/Of (an?|some|several|all)/, "in, with, the ... of"],
  [/with(out)? which it|without which/i, "a sentence of its main clause"],
  [/without a word/i, "silently"],
  [/as good as/i, "the fact itself"],
  [/(do|does|did) without/i, "omits, does not need"],
  [/so many/i, "this many, enough"],
];

/** Sources and documentation, with the paragraphs of comments as single lines. */
const texts: readonly Source[] = [
  ...sources.filter(({ path }) => path !== "test/tidy.test.ts"),
  ...["docs", "schemas", "CONTRIBUTING.md", "README.md", "CHANGELOG.md", "bench/README.md"].flatMap(documentsIn),
].map(({ path, text }) => ({ path, text: text.replace(/\s*\n\s*(?:\*|\/\/|#|>)?\s*/g, " ") }));

/** Returns the file at a path, or the Markdown, YAML and JSON files of a folder. */
function documentsIn(path: string): readonly Source[] {
  const paths = path.includes(".")
    ? [path]
    : readdirSync(projectPath(path), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(md|ya?ml|json)$/.test(name) && !name.startsWith("examples/"))
        .map((name) => join(path, name));
  return paths.map((name) => ({ path: name, text: readFileSync(projectPath(name), "utf8") }));
}

test("texts use plain terms", () => {
  const phrases = bannedPhrases.map(([phrase, instead]) => ({
    pattern: new RegExp(`(?<!\\w)(?:${phrase.source})(?!\\w)`, `${phrase.flags}g`),
    instead,
  }));
  assertNone(
    ({ text }) =>
      phrases.flatMap(({ pattern, instead }) =>
        [...text.matchAll(pattern)].map(({ 0: found, index }) => {
          const excerpt = text.slice(Math.max(0, index - 40), index + 40);
          return `"${found}" in "${excerpt}": expected ${instead}`;
        }),
      ),
    texts,
  );
});

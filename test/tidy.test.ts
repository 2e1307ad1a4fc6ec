/** Style that a machine can hold. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { projectPath } from "../src/base/project-files.ts";

/** The floors of `src`, by folder; rooms on one floor do not import from each other. */
const floors: Readonly<Record<string, number>> = {
  base: 0,
  contract: 1,
  db: 2,
  listing: 3,
  lake: 4,
  serving: 5,
  ingest: 6,
  query: 6,
  accounts: 6,
  demo: 7,
  http: 8,
  cli: 9,
  "main.ts": 10,
};

interface Source {
  /** Relative to the project, for example `src/db/duckdb.ts`. */
  readonly path: string;
  readonly text: string;
}

const sources: readonly Source[] = ["src", "test", "bench"].flatMap((folder) =>
  readdirSync(projectPath(folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
    .map((path) => join(folder, path))
    .map((path) => ({ path, text: readFileSync(projectPath(path), "utf8") })),
);
const written = sources.filter(({ path }) => !path.includes(".gen."));
const product = written.filter(({ path }) => path.startsWith("src/"));

/** The modules that a file imports: paths for its own, names for packages. */
function importsOf({ path, text }: Source): readonly string[] {
  const names = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  return names.map((name) => (name.startsWith(".") ? normalize(join(dirname(path), name)) : name));
}

const roomOf = (path: string): string => path.split("/")[1] ?? "";

function faults(find: (source: Source) => readonly string[], among = written): readonly string[] {
  return among.flatMap((source) => find(source).map((what) => `${source.path}: ${what}`));
}

test("a floor imports only from lower floors, and every folder has one", () => {
  const found = faults((source) => {
    const floor = floors[roomOf(source.path)];
    if (floor === undefined) return [`the folder ${roomOf(source.path)} is on no floor`];
    return importsOf(source)
      .filter((path) => path.startsWith("src/") && roomOf(path) !== roomOf(source.path))
      .filter((path) => (floors[roomOf(path)] ?? Number.POSITIVE_INFINITY) >= floor)
      .map((path) => `imports ${path}, which is not below it`);
  }, product);
  assert.deepEqual(found, []);
});

test("no two modules import each other, not even by way of others", () => {
  const graph = new Map(
    product.map((source) => [source.path, importsOf(source).filter((path) => path.startsWith("src/"))]),
  );
  const isFree = new Set<string>();
  const circle = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (isFree.has(path)) return undefined;
    for (const next of graph.get(path) ?? []) {
      const found = circle(next, [...trail, path]);
      if (found !== undefined) return found;
    }
    isFree.add(path);
    return undefined;
  };
  for (const path of graph.keys()) assert.equal(circle(path, [])?.join(" -> "), undefined);
});

test("one module imports the engine", () => {
  const importers = product.filter((source) => importsOf(source).some((name) => name.startsWith("@duckdb/")));
  assert.deepEqual(
    importers.map(({ path }) => path),
    ["src/db/duckdb.ts"],
  );
});

test("the engine's streaming calls are not used: they end early without an error", () => {
  assert.deepEqual(
    faults(({ text }) => text.match(/\.(stream|startStream)\w*\(/g) ?? [], product),
    [],
  );
});

test("nothing is of type any, left to do, or silenced", () => {
  const patterns = [
    /:\s*any\b/,
    /\bas any\b/,
    /<an[y]>/,
    /\bTO[D]O\b/,
    /\bFIX[M]E\b/,
    /@ts-(ignore|nocheck)/,
    /eslint-disabl[e]/,
  ];
  assert.deepEqual(
    faults(({ text }) => patterns.flatMap((pattern) => pattern.exec(text)?.[0] ?? [])),
    [],
  );
});

test("nothing below the entry points reads the clock", () => {
  const belowEntry = product.filter(({ path }) => (floors[roomOf(path)] ?? 0) < 8);
  assert.deepEqual(
    faults(({ text }) => text.match(/Date\.now\(\)|new Date\(\)/g) ?? [], belowEntry),
    [],
  );
});

test("a file has one subject: at most 300 lines", () => {
  assert.deepEqual(
    faults(({ text }) => (text.split("\n").length > 301 ? [`${text.split("\n").length - 1} lines`] : [])),
    [],
  );
});

test("the head of every module says what it is for", () => {
  assert.deepEqual(
    faults(({ text }) => (text.startsWith("/**") ? [] : ["no head"]), product),
    [],
  );
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(readFileSync(projectPath("package-lock.json"), "utf8"), /"resolved": "https?:/);
});

test("an installation runs no script of a package, and brings none that reports on it", () => {
  const { packages } = JSON.parse(readFileSync(projectPath("package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
  };
  assert.match(readFileSync(projectPath(".npmrc"), "utf8"), /^ignore-scripts=true$/m);
  assert.deepEqual(
    Object.keys(packages).filter((path) => packages[path]?.hasInstallScript || path.includes("@scarf/")),
    // Both have their binaries in packages; their scripts only check or shorten the way to them.
    ["node_modules/@photostructure/sqlite", "node_modules/esbuild"],
  );
});

/** The names that a module declares and exports; `export … from` is not a declaration. */
function exportedNames({ text }: Source): readonly string[] {
  const declared =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
  return [...new Set([...text.matchAll(declared)].map((match) => match[1] ?? ""))];
}

test("no two modules export the same name", () => {
  const modulesOf = new Map<string, string[]>();
  for (const source of written)
    for (const name of exportedNames(source)) modulesOf.set(name, [...(modulesOf.get(name) ?? []), source.path]);
  const found = [...modulesOf]
    .filter(([, modules]) => modules.length > 1)
    .map(([name, modules]) => `${name}: ${modules.join(", ")}`);
  assert.deepEqual(found, []);
});

test("bench imports nothing from test", () => {
  const bench = written.filter(({ path }) => path.startsWith("bench/"));
  const imports = (source: Source) => importsOf(source).filter((path) => path.startsWith("test/"));
  assert.deepEqual(faults(imports, bench), []);
});

/** The recipes of docs/open-from-elsewhere.md and docs/iceberg.md: blocks in Python, after the block that they start with, and in the shell. */
import { execFile } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { parse } from "csv-parse/sync";
import { projectPath } from "../../src/base/project-files.ts";
import { type FencedBlock, fencedBlocks, flagOf } from "../docs/markdown.ts";
import { icebergJar } from "./iceberg-jar.ts";

const blocks = ["docs/open-from-elsewhere.md", "docs/iceberg.md"]
  .flatMap(fencedBlocks)
  .filter((block) => flagOf(block, "engine") !== undefined);

/** The blocks that the recipes in Python start with. */
const openings = ["files", "http"] as const;

export interface Recipe {
  /** For example `polars` and `polars-http`. */
  readonly name: string;
  readonly language: string;
  readonly text: string;
}

const nameOf = (block: FencedBlock): string => flagOf(block, "engine") ?? "";

const openingOf = (name: string): string => {
  const opening = name.includes("-http") ? "http" : "files";
  return blocks.find((block) => nameOf(block) === opening)?.text ?? "";
};

export const recipes: readonly Recipe[] = blocks
  .filter((block) => !openings.some((opening) => opening === nameOf(block)))
  .map((block) => ({
    name: nameOf(block),
    language: block.language,
    text: block.language === "python" ? `${openingOf(nameOf(block))}\n${block.text}` : block.text,
  }));

export interface RecipeSurroundings {
  /** The folder that has `data/lake`. */
  readonly folder: string;
  /** The service that the page calls `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly key: string;
  /** The path of Python in the environment of the engines. */
  readonly python: string;
}

/** The setting by which Spark would download its Iceberg runtime. */
const icebergPackage = /"spark\.jars\.packages", "[^"]*"/;

/** Runs a recipe; returns its rows: make, listings, median price. */
export async function runRecipe(
  { language, text }: Recipe,
  { folder, url, key, python }: RecipeSurroundings,
): Promise<readonly (readonly unknown[])[]> {
  const isPython = language === "python";
  const [command, args] = isPython ? [python, [projectPath("test/other-engines/recipe.py")]] : ["sh", []];
  const env = { ...process.env, CARQUET_KEY: key, PATH: [dirname(python), process.env.PATH].join(delimiter) };
  const out = await new Promise<string>((done, failed) => {
    const child = execFile(command, args, { cwd: folder, env }, (failure, output) =>
      failure === null ? done(output) : failed(failure),
    );
    child.stdin?.end(
      text.replaceAll("http://127.0.0.1:8080", url).replace(icebergPackage, `"spark.jars", "${icebergJar}"`),
    );
  });
  if (isPython) return JSON.parse(out.trim().split("\n").at(-1) ?? "");
  const rows: readonly (readonly string[])[] = parse(out, { from: 2 });
  return rows.map(([make, ...numbers]) => [make, ...numbers.map(Number)]);
}

/**
 * Writes what derives from `schemas/`, if that has changed: the document as JSON, validators, and parts of the clients. With the argument `types`,
 * also the types of the document, which the compiler of TypeScript and editors need, and a start does not.
 *
 * Any number of processes can do so at once: each file is replaced as a whole, and the fingerprint is written last.
 */
const { spawnSync } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { accessSync, constants, existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { project, sourcesIn, fingerprintOf } = require("./fingerprint.cjs");

const generated = join(project, "src/contract/generated");
const clientTypes = join(project, "clients/typescript/src/document.gen.ts");
const clientModules = ["typescript/src/operations.gen.ts", "python/src/carquet_client/models.py", "python/src/carquet_client/operations.py"];

/** Writes the files that the program loads. */
function generate() {
  const inputs = [...sourcesIn("schemas", /\.(yaml|json|url)$/), ...sourcesIn("src/contract", /(?<!\.gen(\.d)?)\.ts$/)];
  const modules = ["document.gen.json", "parameters.gen.js", "manifest.gen.js", "mapping.gen.js", "sources.gen.js"].map((file) => join(generated, file));
  const clients = clientModules.map((file) => join(project, "clients", file)).filter((file) => existsSync(dirname(file)));
  const outputs = [...modules, ...clients];
  once("fingerprint", fingerprintOf(inputs, [__filename, require.resolve("ajv/package.json")]), { outputs, build: runGenerator });
}

function runGenerator() {
  const program = join(project, `dist/generate-${randomUUID()}.mjs`);
  require("esbuild").buildSync({
    entryPoints: [join(project, "src/contract/build/generate.ts")],
    ...{ bundle: true, packages: "external", platform: "node", format: "esm", target: "node20", outfile: program },
  });
  try {
    run(process.execPath, [program]);
  } finally {
    rmSync(program);
  }
}

/** Writes the types of the document. Needs the development packages. */
function generateTypes() {
  const folder = join(project, "node_modules/openapi-typescript");
  const makers = [__filename, join(folder, "package.json")];
  const outputs = [join(generated, "document.gen.ts"), clientTypes];
  const build = () => {
    // No source by its name: a compiler that runs meanwhile does not see it.
    const unfinished = join(generated, `document.gen.ts-${randomUUID()}`);
    run(process.execPath, [join(folder, "bin/cli.js"), join(project, "schemas/openapi.yaml"), "--output", unfinished]);
    replace(clientTypes, readFileSync(unfinished));
    renameSync(unfinished, join(generated, "document.gen.ts"));
  };
  once("types-fingerprint", fingerprintOf(["schemas/openapi.yaml"], makers), { outputs, build });
}

/** Calls `build` and writes a fingerprint to a file, unless the file has it and all outputs exist. */
function once(name, fingerprint, { outputs, build }) {
  const path = join(generated, name);
  if (outputs.every((file) => existsSync(file)) && existsSync(path) && readFileSync(path, "utf8") === fingerprint) return;
  requireWritable(generated);
  build();
  replace(path, fingerprint);
}

/** Ends the process if a folder cannot be written. */
function requireWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    process.stderr.write(`carquet: Cannot write ${folder}: expected a folder for what derives from schemas/. Run npm run build first.\n`);
    process.exit(1);
  }
}

/** Replaces a file as a whole. */
function replace(path, text) {
  const unfinished = `${path}-${randomUUID()}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: project, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`Generating from schemas/ failed:\n${stdout}${stderr}`);
}

module.exports = { generate, generateTypes };
if (require.main === module) {
  generate();
  if (process.argv.includes("types")) generateTypes();
}

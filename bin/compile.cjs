/**
 * Compiles `src/` to JavaScript, or the folders that the arguments name: `npm test` compiles the tests too. A command starts in a third of the
 * time that it needs when Node.js loads TypeScript. First generates what derives from `schemas/`, and bundles the style sheets and browser modules of the web pages.
 *
 * The result is in `dist/<fingerprint>/`, where the fingerprint is a hash of all compiled files. It is complete as soon as it exists, and never
 * changed, so that any number of processes can compile and run at once. A copy of the project, such as an image or an installed package, has
 * the same fingerprint at any path and with any times, so it runs what was compiled before it was copied.
 */
const { spawnSync } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } = require("node:fs");
const { dirname, join, relative } = require("node:path");
const { project, sourcesIn, fingerprintOf } = require("./fingerprint.cjs");
const { generate } = require("./generate.cjs");

const dist = join(project, "dist");
const typefaceProgram = join(__dirname, "typeface.cjs");
/** Results of earlier sources are removed after this time; a process that runs one loads its modules when they are needed. */
const keptMs = 24 * 60 * 60 * 1000;

/** What a browser loads: the style sheet, drawings and modules of `src/web/`. The style sheet names the typeface. */
const clientEntries = ["styles/style.css", "drawings/cars.svg", "client/client.ts", "client/build.ts"].map((file) => `src/web/${file}`);
/** What browser modules import from other folders. */
const sharedModules = ["src/accounts/policy/prices.ts"];

/** Returns the path of the folder that holds some compiled folders, and compiles them first if necessary. */
function compile(folders) {
  generate();
  bundleClient();
  const files = folders.flatMap((folder) => sourcesIn(folder, /(?<!\.d)\.tsx?$|\.gen\.js$/));
  return buildOnce(join(dist, fingerprintOf(files, [__filename])), () => outputsOf(files));
}

/** Returns the path of the folder that holds what browsers load, named with a hash of its content, and bundles it first if necessary. */
function bundleClient() {
  const files = [["client", /\.ts$/], ["styles", /\.css$/], ["drawings", /\.svg$/]].flatMap(([folder, names]) => sourcesIn(`src/web/${folder}`, names));
  const makers = [__filename, typefaceProgram];
  return buildOnce(join(dist, `client-${fingerprintOf([...files, ...sharedModules], makers)}`), () => bundlesOf(bundleTypeface()));
}

/** Returns the path of the folder that holds the typeface, and cuts it to the characters and styles of the pages first if necessary. */
function bundleTypeface() {
  const name = `typeface-${fingerprintOf([], [typefaceProgram, require.resolve("@fontsource-variable/archivo/package.json")])}`;
  return buildOnce(join(dist, name), () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [typefaceProgram], { maxBuffer: 2 ** 24 });
    if (status !== 0) throw new Error(`Cutting the typeface failed:\n${stderr}`);
    return [["archivo.woff2", stdout]];
  });
}

/** Returns a folder, and writes the files that `build` returns to it first if it does not exist. */
function buildOnce(folder, build) {
  if (!existsSync(folder)) {
    try {
      write(build, folder);
    } catch (error) {
      if (!["EACCES", "EROFS", "EPERM"].includes(error.code)) throw error;
      process.stderr.write(`carquet: Cannot write ${dist}: expected a folder for the compiled program. Run npm run build first.\n`);
      process.exit(1);
    }
  }
  return folder;
}

/** Returns the compiled files with paths relative to their folder. */
function outputsOf(files) {
  const { outputFiles } = require("esbuild").buildSync({
    entryPoints: files.map((file) => join(project, file)),
    ...{ outdir: project, outbase: project, write: false },
    ...{ format: "esm", platform: "node", target: "node20", sourcemap: "linked", sourcesContent: false },
    ...{ jsx: "automatic", jsxImportSource: "preact" },
  });
  return outputFiles.map(({ path, text }) => [relative(project, path), path.endsWith(".js") ? withCompiledImports(text) : text]);
}

/** Returns the bundles, whose names have a hash of their content. `typeface` is the folder of the typeface. */
function bundlesOf(typeface) {
  const { outputFiles } = require("esbuild").buildSync({
    entryPoints: clientEntries.map((file) => join(project, file)),
    ...{ outdir: project, entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]", write: false },
    ...{ bundle: true, minify: true, splitting: true, format: "esm", platform: "browser", target: ["es2022", "safari16.4"], loader: { ".svg": "copy", ".woff2": "file" }, assetNames: "[name]-[hash]", alias: { typeface } },
  });
  return outputFiles.map(({ path, contents }) => [relative(project, path), contents]);
}

/** Writes files to a folder, which exists when it is complete. */
function write(build, folder) {
  mkdirSync(dist, { recursive: true });
  // Unlike a folder of mkdtemp, readable by other users: a service may run as another one than the build.
  const unfinished = `${folder}-${randomUUID()}`;
  mkdirSync(unfinished);
  for (const [file, text] of build()) {
    mkdirSync(dirname(join(unfinished, file)), { recursive: true });
    writeFileSync(join(unfinished, file), text);
  }
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process may have been faster.
    rmSync(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  removeOld(folder);
}

/** Replaces the extension of relative imports. The length stays the same, so that the source map stays right. */
const withCompiledImports = (text) =>
  text.replaceAll(
    /((?:from|import|import\(|new URL\() ?"\.{1,2}\/[^"\n]+)\.ts(x?)"/g,
    (_, start, x) => `${start}.js"${x === "" ? "" : " "}`,
  );

function removeOld(current) {
  for (const entry of readdirSync(dist)) {
    const folder = join(dist, entry);
    // Another process may have renamed or removed it.
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found !== undefined && folder !== current && Date.now() - found.mtimeMs > keptMs) rmSync(folder, { recursive: true, force: true });
  }
}

module.exports = { compile, bundleClient };
if (require.main === module) {
  const folders = process.argv.slice(2);
  process.stdout.write(`${compile(folders.length > 0 ? folders : ["src"])}\n`);
}

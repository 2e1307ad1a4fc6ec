/** Fingerprints of the project's files: outputs are built again when the content of their inputs has changed, at any path and with any times. */
const { createHash } = require("node:crypto");
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const project = join(__dirname, "..");

/** Returns the paths of the files in a folder of the project whose path matches a pattern. */
const sourcesIn = (folder, names) =>
  readdirSync(join(project, folder), { recursive: true })
    .filter((file) => names.test(file) && !/(^|\/)node_modules\//.test(file))
    .map((file) => join(folder, file));

/** Returns a hash of the paths and contents of files of the project, and of what makes something of them, given as absolute paths. */
function fingerprintOf(files, makers) {
  const hash = createHash("sha256");
  for (const maker of makers) hash.update(readFileSync(maker));
  for (const file of files.toSorted()) hash.update(`\0${file}\0`).update(readFileSync(join(project, file)));
  return hash.digest("hex").slice(0, 16);
}

module.exports = { project, sourcesIn, fingerprintOf };

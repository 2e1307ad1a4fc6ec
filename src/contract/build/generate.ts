/** Writes the files that are generated from `schemas/`, for `bin/generate.cjs`: those of a client only where its sources are. */
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { projectPath } from "../../base/project-files.ts";
import { generatedFiles } from "./generated.ts";

for (const [file, text] of generatedFiles()) {
  const path = projectPath(file);
  if (!existsSync(dirname(path))) continue;
  const unfinished = `${path}-${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}

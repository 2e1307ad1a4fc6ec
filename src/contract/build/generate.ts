/** Entry point of `npm run generate`: writes the files that are generated from `schemas/`. */
import { writeFileSync } from "node:fs";
import { projectPath } from "../../base/project-files.ts";
import { generatedFiles } from "./generated.ts";

for (const [path, text] of generatedFiles()) {
  writeFileSync(projectPath(path), text);
  process.stdout.write(`${path}: ${text.length} bytes\n`);
}

/** Python with the other engines: whether an engine can run, and running a script with one. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { projectPath } from "../../src/base/project-files.ts";

/** Python with the engines installed: `CARQUET_PYTHON`, else the environment that `npm run test:all` creates. */
export const enginesPython = process.env.CARQUET_PYTHON ?? projectPath(".venv/bin/python");

/** Returns why a module, or a file that it needs, cannot be used; undefined if it can. */
export function skipReasonOf(module: string, file?: string): string | undefined {
  const python = enginesPython;
  if (!existsSync(python)) return `no ${python}; npm run test:all sets it up`;
  if (file !== undefined && !existsSync(file)) return `no ${file}; npm run test:all installs it`;
  if (spawnSync(python, ["-c", `import ${module}`]).status !== 0) return `${module} is not installed for ${python}`;
  if (module === "pyspark" && spawnSync("java", ["-version"]).status !== 0) return "no Java runtime";
  return undefined;
}

/** Runs a script of this folder with an engine and a request as JSON on standard input; returns its answer. */
export async function runPython(script: string, engine: string, request: unknown): Promise<unknown> {
  const path = projectPath(`test/other-engines/${script}`);
  const answer = await new Promise<string>((done, failed) => {
    const child = execFile(enginesPython, [path, engine], { maxBuffer: 1 << 26 }, (failure, out) =>
      failure === null ? done(out) : failed(failure),
    );
    child.stdin?.end(JSON.stringify(request));
  });
  return JSON.parse(answer);
}

/** Completion in shells: the printed scripts, run by bash and fish, and their syntax in zsh. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { runnableCommands, shownOptions } from "../docs/command-list.ts";
import { carquetHere } from "../support/command-line.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const folder = await temporaryFolder(fileScope);

/** Writes the script of a shell; returns its path. */
async function scriptOf(shell: string): Promise<string> {
  const path = join(folder, shell);
  const { code, out, err } = await carquetHere(["completion", shell]);
  assert.equal(code, 0, err);
  writeFileSync(path, out);
  return path;
}

const completeInBash = `
source "$1"
while IFS= read -r line; do
  IFS=' ' read -ra COMP_WORDS <<<"\${line%|}"
  [[ $line == *' |' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _carquet
  echo "\${COMPREPLY[*]}"
done`;

/** Completes lines in one bash, each at its end: after a space if it ends with ` |`. */
async function completedByBash(lines: readonly string[]): Promise<readonly (readonly string[])[]> {
  const args = ["--norc", "-c", completeInBash, "bash", await scriptOf("bash")];
  const output = execFileSync("bash", args, {
    cwd: projectPath("."),
    input: `${lines.join("\n")}\n`,
    encoding: "utf8",
  });
  return output.split("\n").map((words) => words.split(" ").filter((word) => word !== ""));
}

test("bash completes commands, options, choices and paths", async () => {
  const cases: readonly (readonly [line: string, completed: readonly string[]])[] = [
    ["carquet ser", ["serve"]],
    ["carquet keys |", ["create", "list", "revoke", "help", "-h", "--help"]],
    ["carquet keys rev", ["revoke"]],
    ["carquet serve --auth |", ["keys", "off"]],
    ["carquet serve --auth = o", ["off"]],
    ["carquet serve --lake = src/cl", ["src/cli"]],
    ["carquet serve --port |", []],
    ["carquet start --trust-proxy --priv", ["--private-webhooks"]],
    ["carquet ingest --mapping data/mappings/al", ["data/mappings/aliases.json"]],
    ["carquet ingest READ", ["README.md"]],
    ["carquet push data/sam", ["data/sample"]],
    ["carquet accounts operator o", ["on", "off"]],
    ["carquet completion z", ["zsh"]],
    ["carquet nonsense --he", ["--help"]],
  ];
  const completed = await completedByBash(cases.map(([line]) => line));
  for (const [index, [line, expected]] of cases.entries()) assert.deepEqual(completed[index], expected, line);
});

test("bash completes every option of every command", async () => {
  const all = runnableCommands();
  const completed = await completedByBash(all.map(({ name }) => `carquet ${name} --`));
  for (const [index, { name, command }] of all.entries()) {
    const flags = shownOptions(command).flatMap(({ long }) => long ?? []);
    assert.deepEqual(completed[index], [...flags, "--help"], name);
  }
});

for (const shell of ["zsh", "fish"]) {
  const isMissing = spawnSync(shell, ["--version"]).error !== undefined;
  test(`${shell} reads its script`, { skip: isMissing && `${shell} is not installed` }, async () => {
    execFileSync(shell, ["-n", await scriptOf(shell)]);
    if (shell === "zsh") return;
    const lines = ["carquet keys rev", "carquet serve --auth o", "carquet ingest --mapping data/mappings/al"];
    const commands = [`source ${join(folder, shell)}`, ...lines.map((line) => `complete -C '${line}'`)];
    const output = execFileSync(shell, ["-N", "-c", commands.join("; ")], { cwd: projectPath("."), encoding: "utf8" });
    const words = output.split("\n").map((line) => line.split("\t")[0]);
    assert.deepEqual(words.slice(0, 3), ["revoke", "off", "data/mappings/aliases.json"]);
  });
}

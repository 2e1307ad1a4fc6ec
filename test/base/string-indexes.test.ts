/**
 * Objects that are indexed by any string. A word of a client, a dealer or a source must not index one: it could name a property that every object has. Each
 * place is in the golden file, because it has been checked that its strings are ours, such as names of columns.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import { projectPath } from "../../src/base/project-files.ts";

const goldenPath = projectPath("test/base/string-indexes.golden.txt");

/** Rows are indexed by names of columns, and environment variables have no prototype. */
const isExempt = (type: string): boolean => /\bRow\b|ProcessEnv/.test(type);

/** Returns each place as its file and expression, sorted. */
function stringIndexes(): readonly string[] {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => assert.fail("Invalid tsconfig.json.") };
  const config = ts.getParsedCommandLineOfConfigFile(projectPath("tsconfig.json"), {}, host);
  const files = config?.fileNames.filter((path) => relative(projectPath("src"), path).startsWith("..") === false) ?? [];
  const program = ts.createProgram(files, config?.options ?? {});
  const checker = program.getTypeChecker();
  const found = new Set<string>();
  const visit = (node: ts.Node, path: string): void => {
    const isIndex =
      ts.isElementAccessExpression(node) &&
      (checker.getTypeAtLocation(node.argumentExpression).flags & ts.TypeFlags.String) !== 0;
    const isIn = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword;
    if (isIndex && !isExempt(checker.typeToString(checker.getTypeAtLocation(node.expression))))
      found.add(`${path}: ${node.getText()}`);
    if (isIn && !ts.isStringLiteral(node.left)) found.add(`${path}: ${node.getText()}`);
    ts.forEachChild(node, (child) => visit(child, path));
  };
  for (const source of program.getSourceFiles())
    if (files.includes(source.fileName) && !source.fileName.includes("/generated/"))
      visit(source, relative(projectPath("."), source.fileName));
  return [...found].sort();
}

test("no object is indexed by a string that has not been checked to be ours", () => {
  const text = `${stringIndexes().join("\n")}\n`;
  if (process.env.GOLDEN === "write") writeFileSync(goldenPath, text);
  const known = new Set(readFileSync(goldenPath, "utf8").split("\n"));
  const added = text.split("\n").filter((line) => !known.has(line));
  assert.deepEqual(
    added,
    [],
    "Expected a Map, or ownValue of base/json.ts; if no client, dealer or source can name the key, a line in test/base/string-indexes.golden.txt.",
  );
});

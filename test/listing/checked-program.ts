/** A program as TypeScript checks it, unchanged and with another text of one of its files. */
import assert from "node:assert/strict";
import { join } from "node:path";
import ts from "typescript";

export class CheckedProgram {
  private readonly options: ts.CompilerOptions;
  private readonly program: ts.Program;

  /** Reads the program of the `tsconfig.json` in a folder. */
  constructor(private readonly folder: string) {
    const onUnRecoverableConfigFileDiagnostic = (fault: ts.Diagnostic) => assert.fail(describe(fault));
    const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic };
    const config = ts.getParsedCommandLineOfConfigFile(join(folder, "tsconfig.json"), {}, host);
    this.options = config?.options ?? {};
    this.program = ts.createProgram(config?.fileNames ?? [], this.options);
  }

  errors(): readonly string[] {
    return ts.getPreEmitDiagnostics(this.program).map(describe);
  }

  /** Returns the errors in some files if one file has another text. Parses that one alone. */
  errorsWith(file: string, text: string, checkedFiles: readonly string[]): readonly string[] {
    const host = ts.createCompilerHost(this.options);
    const { getSourceFile } = host;
    host.getSourceFile = (path, version, ...rest) =>
      path === join(this.folder, file)
        ? ts.createSourceFile(path, text, version)
        : (this.program.getSourceFile(path) ?? getSourceFile(path, version, ...rest));
    const changed = ts.createProgram(this.program.getRootFileNames(), this.options, host, this.program);
    return checkedFiles
      .map((path) => changed.getSourceFile(join(this.folder, path)))
      .flatMap((source) => changed.getSemanticDiagnostics(source).map(describe));
  }
}

/** Returns the file of an error, the line that it is about, and its message. */
function describe({ file, start = 0, messageText }: ts.Diagnostic): string {
  const [line = ""] = file?.text.slice(file.text.lastIndexOf("\n", start) + 1).split("\n", 1) ?? [];
  return `${file?.fileName ?? ""}: ${line} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
}

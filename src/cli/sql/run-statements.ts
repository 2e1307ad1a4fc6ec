/** Runs statements without a prompt: of the command's argument, or of standard input as they arrive. The first error ends the run. */
import { once } from "node:events";
import { replaceFileWith } from "../../base/files.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { AnalystDatabase } from "../../lake/analyst/analyst-database.ts";
import { isBlankStatement, splitStatements } from "../../lake/analyst/statements.ts";
import { type ResultFormat, runFormatted } from "./result-formats.ts";

/** Yields the statements of a stream of text, each when it is complete. */
export async function* statementsIn(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pending = "";
  for await (const chunk of chunks) {
    const { statements, rest } = splitStatements(pending + chunk);
    pending = rest;
    yield* statements;
  }
  if (!isBlankStatement(pending)) yield pending.trim();
}

export interface ResultForm {
  readonly format: ResultFormat;
  /** Whether CSV is safe to open in a spreadsheet. */
  readonly escapesFormulas: boolean;
}

/** Runs statements and prints the result of each. Throws a UserError at the first that fails. */
export async function printResults(
  database: AnalystDatabase,
  statements: AsyncIterable<string>,
  { format, escapesFormulas }: ResultForm,
): Promise<void> {
  for await (const statement of statements) {
    const result = await runFormatted(database, statement, format, escapesFormulas);
    for await (const chunk of result?.content ?? [])
      if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
  }
}

/** Runs statements and writes the result of the last one to a file; returns its number of rows. Throws a UserError if another one has a result, or that one has none. */
export async function writeLastResult(
  database: AnalystDatabase,
  statements: AsyncIterable<string>,
  { format, escapesFormulas, file }: ResultForm & { readonly file: string },
): Promise<number> {
  let last: string | undefined;
  for await (const statement of statements) {
    if (last !== undefined && (await database.execute(last)) !== undefined)
      throw new UserError(`Invalid statements for ${file}: expected a result of the last one only.`);
    last = statement;
  }
  const result = last === undefined ? undefined : await runFormatted(database, last, format, escapesFormulas);
  if (result === undefined) throw new UserError(`Invalid statement for ${file}: expected one with a result.`);
  await writeResultFile(file, result.content);
  return result.rowCount;
}

/** Writes a result to a file, which has its old content or all of the new one. Throws a UserError if it cannot be written. */
export async function writeResultFile(file: string, content: AsyncIterable<string | Uint8Array>): Promise<void> {
  try {
    await replaceFileWith(file, content);
  } catch (thrown) {
    throw new UserError(`Cannot write ${file}: ${messageOf(thrown)}.`);
  }
}

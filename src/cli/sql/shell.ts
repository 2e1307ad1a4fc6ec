/**
 * The shell of `carquet sql`: reads statements that end with a semicolon and dot commands, line by line, and prints results. An error or
 * Ctrl-C ends the statement, not the shell.
 */
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import type { Row } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { AnalystDatabase, StatementResult } from "../../lake/analyst/analyst-database.ts";
import { isBlankStatement, splitStatements } from "../../lake/analyst/statements.ts";
import { type Completion, complete } from "./completion.ts";
import { isCommand, runDotCommand, type ShellState } from "./dot-commands.ts";
import { defaultHistoryFile, historyLinesMax, openHistory } from "./history.ts";
import { checkPrintable, formatOfFile, type ResultFormat, runFormatted } from "./result-formats.ts";
import { writeResultFile } from "./run-statements.ts";
import { formatTerminalTable } from "./terminal-table.ts";

/** Rows of a table that the shell shows; other modes and `.output` write all of them. */
const tableRowsMax = 1_000;

const [prompt, continuedPrompt] = ["carquet> ", "    ...> "];

export interface ShellOptions {
  readonly database: AnalystDatabase;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  readonly format: ResultFormat;
  /** The history file, `none`, or undefined for the default. */
  readonly historyFile: string | undefined;
}

/** Runs the shell until its input ends or a command leaves it. Throws a UserError if it cannot start. */
export async function runShell({ database, input, output, format, historyFile }: ShellOptions): Promise<void> {
  checkPrintable(format, true);
  const history = openHistory(historyFile ?? defaultHistoryFile());
  const shell = new Shell(database, output, format);
  const lines = createInterface({
    input,
    output,
    terminal: true,
    history: [...history.lines],
    historySize: historyLinesMax,
    completer: (line: string, done: (error: Error | null, found: Completion) => void) =>
      void shell.complete(line, lines.line).then((found) => done(null, found)),
  });
  lines.on("SIGINT", () => shell.cancel(lines));
  output.write("SQL shell of Carquet. Statements end with ;  help lists commands, exit leaves.\n");
  showPrompt(lines, prompt);
  for await (const line of lines) {
    if (line.trim() !== "") history.add(line);
    await shell.accept(line);
    if (shell.isEnded) break;
    showPrompt(lines, shell.isContinued ? continuedPrompt : prompt);
  }
  lines.close();
  output.write("\n");
}

function showPrompt(lines: Interface, text: string): void {
  lines.setPrompt(text);
  lines.prompt();
}

class Shell {
  private readonly state: ShellState;
  /** The lines of a statement that has not ended yet. */
  private pending = "";
  private isRunning = false;
  private isCancelled = false;

  constructor(
    private readonly database: AnalystDatabase,
    private readonly output: ShellOptions["output"],
    mode: ResultFormat,
  ) {
    this.state = { mode, isTimed: true, outputFile: undefined, isEnded: false };
  }

  get isEnded(): boolean {
    return this.state.isEnded;
  }

  get isContinued(): boolean {
    return !isBlankStatement(this.pending);
  }

  async accept(line: string): Promise<void> {
    this.isCancelled = false;
    if (isCommand(line, this.isContinued))
      return this.attempt(async () => this.print([await runDotCommand(line, this.state, this.database)]));
    const { statements, rest } = splitStatements(`${this.pending}${line}\n`);
    this.pending = isBlankStatement(rest) ? "" : rest;
    for (const statement of statements) if (!this.isCancelled) await this.attempt(() => this.run(statement));
  }

  /** Cancels the running statement, else the lines entered so far. */
  cancel(lines: Interface): void {
    this.isCancelled = true;
    if (this.isRunning) {
      this.database.interrupt();
      return;
    }
    this.pending = "";
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
    this.output.write("^C\n");
    showPrompt(lines, prompt);
  }

  /** Completes the word at the end of `line`, the part before the cursor of `wholeLine`. */
  async complete(line: string, wholeLine: string): Promise<Completion> {
    return this.isRunning ? [[], line] : complete(this.database, line, `${this.pending}${wholeLine}`);
  }

  /** Runs cancellable work, and shows its error. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    this.isRunning = true;
    try {
      await work();
    } catch (thrown) {
      this.output.write(this.isCancelled ? "Cancelled.\n" : `${errorText(thrown)}\n`);
    } finally {
      this.isRunning = false;
    }
  }

  private async run(statement: string): Promise<void> {
    const startedMs = performance.now();
    const { outputFile, mode } = this.state;
    this.state.outputFile = undefined;
    const time = (): string => (this.state.isTimed ? `, ${formatDuration(performance.now() - startedMs)}` : "");
    if (outputFile !== undefined) {
      const result = await runFormatted(this.database, statement, formatOfFile(outputFile, mode));
      if (result === undefined) throw new UserError(`Invalid statement for ${outputFile}: expected one with a result.`);
      await writeResultFile(outputFile, this.untilCancelled(result.content));
      this.output.write(`(written to ${outputFile}${time()})\n`);
    } else if (mode === "table") {
      const result = await this.database.execute(statement);
      this.output.write(result === undefined ? `(done${time()})\n` : await this.table(result, time));
    } else {
      await this.print((await runFormatted(this.database, statement, mode))?.content ?? []);
    }
  }

  private async table(result: StatementResult, time: () => string): Promise<string> {
    const { columns, rowCount, batches } = result;
    const rows: Row[] = [];
    for await (const batch of batches()) {
      rows.push(...batch.slice(0, tableRowsMax - rows.length));
      if (rows.length >= tableRowsMax) break;
    }
    if (columns[0] === "explain_key") return rows.map(({ explain_value }) => `${explain_value}\n`).join("");
    const table = formatTerminalTable(columns, rows, this.output.columns ?? 80);
    const shown = [
      `${rowCount} ${rowCount === 1 ? "row" : "rows"}`,
      ...(rows.length < rowCount ? [`${rows.length} shown`] : []),
      ...(table.columns < columns.length ? [`${table.columns} of ${columns.length} columns shown`] : []),
    ];
    return `${table.text}(${shown.join(", ")}${time()})\n`;
  }

  private async print(content: AsyncIterable<string | Uint8Array> | Iterable<string>): Promise<void> {
    for await (const chunk of this.untilCancelled(content))
      if (!this.output.write(chunk)) await once(this.output, "drain");
  }

  private async *untilCancelled<T>(content: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
    for await (const chunk of content) {
      if (this.isCancelled) throw new UserError("Cancelled.");
      yield chunk;
    }
  }
}

const errorText = (thrown: unknown): string =>
  thrown instanceof UserError ? thrown.message : `Internal error: ${messageOf(thrown)}`;

const formatDuration = (durationMs: number): string =>
  durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;

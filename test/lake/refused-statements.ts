/** Statements of analysts that a session refuses. */
import assert from "node:assert/strict";
import { UserError } from "../../src/base/user-error.ts";
import type { AnalystDatabase } from "../../src/lake/analyst/analyst-database.ts";

export type RefusedStatement = readonly [text: string, says: RegExp];

/** Fails unless each statement is refused with a message that matches. */
export async function assertRefused(database: AnalystDatabase, statements: readonly RefusedStatement[]): Promise<void> {
  for (const [text, says] of statements)
    await assert.rejects(
      database.query(text),
      (thrown) =>
        thrown instanceof UserError && (says.test(thrown.message) || assert.fail(`${text}: ${thrown.message}`)),
      text,
    );
}

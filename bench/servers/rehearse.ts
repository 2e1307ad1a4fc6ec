/** Asks servers before they are measured: what runs for the first time is compiled, and read from the disk. */
import type { Question } from "../questions/question.ts";
import type { ServerName } from "../report/results.ts";
import type { Server } from "./server.ts";

/** How long a server rehearses; a JVM, which compiles what is often run, takes seconds. */
export const rehearsalMs = (isQuick: boolean): number => (isQuick ? 4000 : 20_000);

/** Asks each server the first questions until its time is up; `least` of them in any case, and all again while there is time. */
export async function rehearse(
  servers: readonly Server<ServerName>[],
  questions: readonly Question[],
  { forMs, least }: { readonly forMs: number; readonly least: number },
): Promise<void> {
  for (const { ask } of servers) {
    const startedAtMs = performance.now();
    for (let asked = 0; asked < least || performance.now() < startedAtMs + forMs; asked += 1) {
      const question = questions[asked % questions.length];
      if (question === undefined) return;
      await ask(question);
    }
  }
}

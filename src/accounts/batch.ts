/**
 * Group commit: tasks that came together are done together, all that write in one transaction. Their outcomes are known when
 * that transaction is on the disk, and not before; when it fails, nothing of it was written.
 */
import { messageOf } from "../base/failure.ts";
import type { Database } from "../base/sqlite.ts";
import { accountAt } from "./account.ts";
import { monthOf } from "./clock.ts";
import { presented } from "./keys.ts";
import { charge } from "./ledger.ts";
import { reviewOnce } from "./reviews.ts";
import type { Done, Outcome, Task } from "./tasks.ts";
import { usageIn } from "./usage.ts";

type Answer = Extract<Outcome, { readonly answered: unknown }>["answered"];

const isWriting = ({ task }: Task): boolean => task === "charge" || task === "review";

/** Does a batch of tasks, those that write first; tells what was thrown. */
export function doBatch(database: Database, tasks: readonly Task[], onFailure: (thrown: unknown) => void): Done {
  const outcomes = new Map<Task, Outcome>();
  const writing = tasks.filter(isWriting);
  if (writing.length > 0) {
    try {
      const answers = database.transaction(() => writing.map((task) => doTask(database, task)));
      for (const [index, task] of writing.entries()) outcomes.set(task, { answered: answers[index] ?? null });
    } catch (thrown) {
      onFailure(thrown);
      for (const task of writing) outcomes.set(task, { failed: messageOf(thrown) });
    }
  }
  for (const task of tasks) {
    if (isWriting(task)) continue;
    try {
      outcomes.set(task, { answered: doTask(database, task) });
    } catch (thrown) {
      onFailure(thrown);
      outcomes.set(task, { failed: messageOf(thrown) });
    }
  }
  return {
    outcomes: tasks.map((task) => outcomes.get(task) ?? { failed: "not done" }),
    charged: chargedIn(database, writing),
  };
}

function doTask(database: Database, { task, asked }: Task): Answer {
  switch (task) {
    case "charge":
      return charge(database, asked) ?? null;
    case "review":
      return reviewOnce(database, asked.day);
    case "present":
      return presented(database, asked.keyId, asked.month);
    case "usage":
      return usageIn(database, asked.accountId, asked.range);
  }
}

/** The accounts that charges were for, as they are now. */
function chargedIn(database: Database, tasks: readonly Task[]): Done["charged"] {
  const months = new Map(
    tasks.flatMap((one) => (one.task === "charge" ? [[one.asked.accountId, monthOf(one.asked.atMs)] as const] : [])),
  );
  try {
    return [...months].map(([accountId, month]) => accountAt(database, accountId, month));
  } catch {
    return [];
  }
}

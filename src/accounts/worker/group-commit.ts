/**
 * Group commit: tasks that came together are done together, all that write in one transaction. Their outcomes are known when
 * that transaction is on the disk, and not before; when it fails, nothing of it was written.
 */
import { messageOf } from "../../base/failure.ts";
import type { Database } from "../../db/sqlite.ts";
import { presented } from "../keys.ts";
import { type Charged, Charging, isCharged } from "../ledger/charging.ts";
import { usageIn } from "../ledger/usage.ts";
import { reviewOnce } from "../policy/tier-reviews.ts";
import type { Done, Outcome, Task } from "./messages.ts";

type Answer = Extract<Outcome, { readonly answered: unknown }>["answered"];

type Writing = Extract<Task, { readonly task: "charge" | "review" }>;
type Reading = Exclude<Task, Writing>;

const isWriting = (one: Task): one is Writing => one.task === "charge" || one.task === "review";

/** Does a batch of tasks, those that write first; tells what was thrown. */
export function doBatch(database: Database, tasks: readonly Task[], onFailure: (thrown: unknown) => void): Done {
  const outcomes = new Map<Task, Outcome>();
  const writing = tasks.filter(isWriting);
  let charged: readonly Charged[] = [];
  if (writing.length > 0) {
    try {
      const charging = new Charging(database);
      const answers = database.transaction(() => writing.map((task) => write(database, task, charging)));
      for (const [index, task] of writing.entries()) outcomes.set(task, { answered: answers[index] ?? null });
      charged = charging.charged;
    } catch (thrown) {
      onFailure(thrown);
      for (const task of writing) outcomes.set(task, { failed: messageOf(thrown) });
    }
  }
  for (const task of tasks) {
    if (isWriting(task)) continue;
    try {
      outcomes.set(task, { answered: read(database, task) });
    } catch (thrown) {
      onFailure(thrown);
      outcomes.set(task, { failed: messageOf(thrown) });
    }
  }
  return {
    outcomes: tasks.map((task) => outcomes.get(task) ?? { failed: "not done" }),
    charged,
  };
}

function write(database: Database, { task, asked }: Writing, charging: Charging): Answer {
  return task === "charge" ? (charging.charge(asked) ?? null) : reviewOnce(database, asked.day);
}

function read(database: Database, { task, asked }: Reading): Answer {
  switch (task) {
    case "charged":
      return asked.chargeIds.filter((chargeId) => isCharged(database, chargeId));
    case "present":
      return presented(database, asked.keyId, asked.month);
    case "usage":
      return usageIn(database, asked.accountId, asked.range);
  }
}

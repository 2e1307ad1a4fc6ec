/**
 * Reads and changes of accounts for pages. They run on a separate worker, started by the first of them, so that no page delays a charge or the
 * look-up of a key. A running service sees their effects within a second, as it does those of commands.
 */
import type { Clock } from "../clock.ts";
import { type LedgerClient, refuseUnmetered } from "../worker/ledger-client.ts";
import type { TaskInput, TaskName, TaskOutput } from "../worker/tasks.ts";
import type { ChangeInput, ChangeName, ChangeOutput } from "./changes.ts";

export class Administration {
  constructor(
    private readonly client: LedgerClient,
    private readonly clock: Clock,
  ) {}

  /** The Unix time in milliseconds that pages show. */
  get nowMs(): number {
    return this.clock.wallMs();
  }

  /** Runs a task. Refuses with `metering_unavailable` if it cannot be run; throws a UserError if it refuses its input. */
  call<Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<TaskOutput<Name>> {
    return this.client.call(name, input).catch(refuseUnmetered);
  }

  /** Applies a change on behalf of an account and records it in the audit log. Throws a UserError if the change is refused. */
  async change<Name extends ChangeName>(
    actor: string,
    name: Name,
    input: ChangeInput<Name>,
  ): Promise<ChangeOutput<Name>> {
    // The output is that of the name; the type of the task has the outputs of all changes.
    return (await this.call("change", { name, input, author: { actor, atMs: this.nowMs } })) as ChangeOutput<Name>;
  }
}

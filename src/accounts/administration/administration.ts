/** Reads and changes of accounts for pages. A running service sees their effects within a second, as it does those of commands. */
import type { Clock } from "../clock.ts";
import type { ServiceAccounts } from "../storage/service-accounts.ts";
import { type CallInput, type CallName, type CallOutput, runCall } from "./calls.ts";
import type { ChangeInput, ChangeName, ChangeOutput } from "./changes.ts";

export class Administration {
  constructor(
    private readonly store: ServiceAccounts,
    private readonly clock: Clock,
  ) {}

  /** The Unix time in milliseconds that pages show. */
  get nowMs(): number {
    return this.clock.wallMs();
  }

  /** Reads or writes accounts. Refuses with `metering_unavailable` if that fails; throws a UserError if the input is refused. */
  call<Name extends CallName>(name: Name, input: CallInput<Name>): Promise<CallOutput<Name>> {
    return this.store.use((database) => runCall(database, name, input));
  }

  /** Applies a change on behalf of an account and records it in the audit log. Throws a UserError if the change is refused. */
  async change<Name extends ChangeName>(
    actor: string,
    name: Name,
    input: ChangeInput<Name>,
  ): Promise<ChangeOutput<Name>> {
    // The output is that of the name; the type of the call has the outputs of all changes.
    return (await this.call("change", { name, input, author: { actor, atMs: this.nowMs } })) as ChangeOutput<Name>;
  }
}

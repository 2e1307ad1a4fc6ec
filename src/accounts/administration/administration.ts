/** Reads and changes of accounts for pages. A running service sees their effects within a second, as it does those of commands. */
import type { SqlDatabase } from "../../db/sql-database.ts";
import type { Clock } from "../clock.ts";
import type { ServiceAccounts } from "../storage/service-accounts.ts";
import { recordChange } from "./audit-log.ts";
import { applyChange, type ChangeInput, type ChangeName, type ChangeOutput } from "./changes.ts";

export class Administration {
  constructor(
    private readonly store: ServiceAccounts,
    private readonly clock: Clock,
  ) {}

  /** The Unix time in milliseconds that pages show. */
  get nowMs(): number {
    return this.clock.wallMs();
  }

  /** Runs a function that reads or writes accounts. Refuses with `metering_unavailable` if that fails; throws a UserError if the input is refused. */
  call<Input extends readonly unknown[], Output>(
    work: (database: SqlDatabase, ...input: Input) => Promise<Output>,
    ...input: Input
  ): Promise<Output> {
    return this.store.use((database) => work(database, ...input));
  }

  /** Applies a change on behalf of an account and records it in the audit log. Throws a UserError if the change is refused. */
  change<Name extends ChangeName>(actor: string, name: Name, input: ChangeInput<Name>): Promise<ChangeOutput<Name>> {
    return this.store.use((database) => applyChange(database, name, input, { actor, atMs: this.nowMs }));
  }

  /** Records who made a change that is kept elsewhere: a decision about a feed in the lake, or a mapping beside the sources. */
  record(actor: string, action: string, details: string): Promise<void> {
    return this.call(recordChange, { actor, action, details, accountId: null, atMs: this.nowMs });
  }
}

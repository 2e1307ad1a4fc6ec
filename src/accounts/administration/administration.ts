/**
 * Reads and changes of the accounts file for pages. They have a worker of their own that starts with the first of them, so that no page
 * delays a charge or the look-up of a key. A running service sees their effects within a second, as it does those of commands.
 */
import { UserError } from "../../base/user-error.ts";
import { refuse } from "../../contract/errors.ts";
import type { Clock } from "../clock.ts";
import type { LedgerClient } from "../worker/ledger-client.ts";
import { LedgerUnavailable } from "../worker/ledger-unavailable.ts";
import type { ChangeInput, ChangeName, ChangeOutput } from "./changes.ts";
import type { QueryInput, QueryName, QueryOutput, QueryRequest } from "./queries.ts";
import type { ChangeRequest, UpdateInput, UpdateName, UpdateOutput, UpdateRequest } from "./updates.ts";

export class Administration {
  constructor(
    private readonly client: LedgerClient,
    private readonly clock: Clock,
  ) {}

  /** Unix time in milliseconds, as of which pages are made. */
  get nowMs(): number {
    return this.clock.wallMs();
  }

  /** Runs a query. Refuses with `metering_unavailable` if the accounts file cannot be read. */
  async query<Name extends QueryName>(name: Name, input: QueryInput<Name>): Promise<QueryOutput<Name>> {
    // The worker returns the output type of the name; the compiler cannot follow that across threads.
    const request = { name, input } as QueryRequest;
    return (await this.client.call("query", request).catch(refuseUnavailable)) as QueryOutput<Name>;
  }

  /** Runs an update. Refuses with `metering_unavailable`; throws a UserError if the change cannot be made. */
  async update<Name extends UpdateName>(name: Name, input: UpdateInput<Name>): Promise<UpdateOutput<Name>> {
    const request = { name, input } as UpdateRequest;
    const outcome = await this.client.call("update", request).catch(refuseUnavailable);
    if ("refusal" in outcome) throw new UserError(outcome.refusal);
    return outcome.output as UpdateOutput<Name>;
  }

  /** Makes a change in the name of an account and records it in the audit log. Throws a UserError if it cannot be made. */
  async change<Name extends ChangeName>(
    actor: string,
    name: Name,
    input: ChangeInput<Name>,
  ): Promise<ChangeOutput<Name>> {
    const request = { name, input, author: { actor, atMs: this.nowMs } } as ChangeRequest;
    return (await this.update("change", request)) as ChangeOutput<Name>;
  }
}

function refuseUnavailable(thrown: unknown): never {
  throw thrown instanceof LedgerUnavailable ? refuse("metering_unavailable", {}) : thrown;
}

/** The caller of an operation: a request with an API key, a page, or a tool call of an agent. */
import type { Accounts, Identity } from "../accounts/accounts.ts";
import { operation } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";

/** A page of the web application, which counts against the rate limit as one request, however many operations it calls. */
export interface CountedPage {
  isCounted: boolean;
}

export interface Caller {
  readonly identity: Identity;
  /** Identifies the call in the log and, if it is charged, in the ledger. */
  readonly requestId: string;
  /** When the request arrived, on the monotonic clock. Its deadline counts from then. */
  readonly arrivedAtMs: number;
  /** Aborted with `Abandoned` when the client has disconnected. */
  readonly signal: AbortSignal;
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined;
  /** The header `Carquet-Version`. */
  readonly dataVersion?: string | undefined;
  readonly page?: CountedPage | undefined;
  /** Whether nothing is charged. */
  readonly isFree?: boolean;
}

/** Refuses with `missing_scope` if the key of a caller lacks the scope of an operation. */
export function requireScope({ identity }: Caller, id: OperationId): void {
  const { scope } = operation(id);
  const granted: readonly string[] = identity.key.scopes;
  if (scope === undefined || !granted.includes(scope)) throw refuse("missing_scope", { scope: scope ?? "none" });
}

/** Counts a call against the rate limit; of the operations of a page, only the first. Refuses with `rate_limit_exceeded`. Returns whether it counted. */
export function countCall(accounts: Accounts, { identity, page }: Caller): boolean {
  if (page?.isCounted === true) return false;
  accounts.countRequest(identity);
  if (page !== undefined) page.isCounted = true;
  return true;
}

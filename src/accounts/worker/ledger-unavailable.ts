/** The fault that no task can be done by a ledger worker, and how requests are refused then. */
import { refuse } from "../../contract/errors.ts";

/** A task failed. What a failed charge wrote nevertheless, because its commit came too late, is refunded. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}

/** Fails closed: a request that cannot be metered is refused. */
export function refuseUnmetered(thrown: unknown): never {
  throw thrown instanceof LedgerUnavailable ? refuse("metering_unavailable", {}) : thrown;
}

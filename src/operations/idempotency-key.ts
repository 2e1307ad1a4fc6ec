/** Checks the `Idempotency-Key` of a call, and derives what it stands for: the operation with its parameters. */
import { createHash } from "node:crypto";
import type { IdempotentRequest } from "../accounts/ledger/idempotency.ts";
import { refuse } from "../contract/errors.ts";
import { canonicalJson } from "./result-cache.ts";

const pattern = /^[!-~]{1,255}$/;

/** Returns undefined for a call without a key. Refuses with `invalid_parameter_value`. */
export function idempotentRequestOf(
  idempotencyKey: string | undefined,
  operation: string,
  request: object,
): IdempotentRequest | undefined {
  if (idempotencyKey === undefined) return undefined;
  if (!pattern.test(idempotencyKey))
    throw refuse("invalid_parameter_value", {
      parameter: "Idempotency-Key",
      value: JSON.stringify(idempotencyKey),
      allowed: "1 to 255 printable ASCII characters without spaces",
      hint: "",
    });
  const sha256 = createHash("sha256")
    .update(`${operation} ${canonicalJson(request)}`)
    .digest("hex");
  return { idempotencyKey, sha256 };
}

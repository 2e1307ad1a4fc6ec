/** Whether the key has the scope that the operation needs, by the document. */
import { operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import type { OperationId } from "../../contract/types.ts";
import { identityOf, type Step } from "../context.ts";

export const permit = (id: OperationId): Step => {
  const { scope } = operation(id);
  return async (exchange, next) => {
    const granted: readonly string[] = identityOf(exchange).key.scopes;
    if (scope === undefined || !granted.includes(scope)) throw refuse("missing_scope", { scope: scope ?? "none" });
    await next();
  };
};

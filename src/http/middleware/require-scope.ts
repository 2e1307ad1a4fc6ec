/** Authorization: refuses with `missing_scope` if the API key lacks the operation's scope. */
import { operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import type { OperationId } from "../../contract/types.ts";
import { identityOf, type OperationStep } from "../context.ts";

export const requireScope = (id: OperationId): OperationStep => {
  const { scope } = operation(id);
  return async (context, next) => {
    const granted: readonly string[] = identityOf(context).key.scopes;
    if (scope === undefined || !granted.includes(scope)) throw refuse("missing_scope", { scope: scope ?? "none" });
    await next();
  };
};

/** Authentication: finds the API key of `Authorization: Bearer <API_KEY>` and its account. */
import type { Accounts } from "../../accounts/accounts.ts";
import { refuse } from "../../contract/errors.ts";
import type { Middleware } from "../context.ts";

/** Refuses with `missing_api_key` or `invalid_api_key`. */
export const identify =
  (accounts: Accounts): Middleware =>
  async (context, next) => {
    const [, scheme, token = ""] = /^(\S+)\s*(.*)$/.exec(context.get("Authorization")) ?? [];
    if (scheme?.toLowerCase() !== "bearer" || token === "") throw refuse("missing_api_key", {});
    context.state.identity = await accounts.identify(token);
    await next();
  };

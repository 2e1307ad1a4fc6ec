/** Who asks (section 5 of the specification): the key in `Authorization: Bearer <API_KEY>`, and the account that it belongs to. */
import type { Accounts } from "../../accounts/accounts.ts";
import { refuse } from "../../contract/errors.ts";
import type { Middleware } from "../context.ts";

export const identify =
  (accounts: Accounts): Middleware =>
  async (context, next) => {
    const [, scheme, token = ""] = /^(\S+)\s*(.*)$/.exec(context.get("Authorization")) ?? [];
    if (scheme?.toLowerCase() !== "bearer" || token === "") throw refuse("missing_api_key", {});
    context.state.identity = await accounts.identify(token);
    await next();
  };

/** Who asks (section 5 of the specification): the key in `Authorization: Bearer <API_KEY>`, and the account that it belongs to. */
import type { Accounts } from "../../accounts/accounts.ts";
import { refuse } from "../../contract/errors.ts";
import type { Step } from "../context.ts";

export const identify =
  (accounts: Accounts): Step =>
  async (exchange, next) => {
    const [, scheme, token = ""] = /^(\S+)\s*(.*)$/.exec(exchange.get("Authorization")) ?? [];
    if (scheme?.toLowerCase() !== "bearer" || token === "") throw refuse("missing_api_key", {});
    exchange.state.identity = await accounts.identify(token);
    await next();
  };

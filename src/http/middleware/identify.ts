/** Authentication: finds the API key of `Authorization: Bearer <API_KEY>` and its account, or the local account of open access. */
import type { Accounts } from "../../accounts/accounts.ts";
import { clientNetwork } from "../../base/client-network.ts";
import { Refusal, refuse } from "../../contract/errors.ts";
import type { Middleware } from "../context.ts";

/**
 * Refuses with `missing_api_key`, `invalid_api_key` or `too_many_invalid_api_keys`; the last one also closes the connection, unless it
 * is that of a proxy, so that requests pipelined behind it cost nothing.
 */
export const identify =
  (accounts: Accounts): Middleware =>
  async (context, next) => {
    // A page has found the identity of a request within the process.
    if (context.state.identity !== undefined) return next();
    if (accounts.isOpen) {
      context.state.identity = await accounts.localIdentity();
      return next();
    }
    const authorization = context.get("Authorization");
    if (authorization === "") throw refuse("missing_api_key", {});
    const [, token = ""] = /^bearer\s+(.*)$/i.exec(authorization) ?? [];
    if (token === "") throw refuse("invalid_api_key", {});
    try {
      // Awaits only uncached keys: the header must be set before the next pipelined request is dispatched.
      const identity = accounts.identify(token, clientNetwork(context.ip));
      context.state.identity = identity instanceof Promise ? await identity : identity;
    } catch (thrown) {
      const isBlocked = thrown instanceof Refusal && thrown.code === "too_many_invalid_api_keys";
      if (isBlocked && !context.app.proxy) context.set("Connection", "close");
      throw thrown;
    }
    await next();
  };

/** Authentication of agents: returns whose tools a request to `/mcp` calls. */
import type { Accounts, Identity } from "../accounts/accounts.ts";
import { identityOf, type RequestContext } from "../http/context.ts";
import { identify } from "../http/middleware/identify.ts";

/**
 * Returns the identity of the API key in `Authorization: Bearer`. Refuses as the API refuses a request: with `missing_api_key`,
 * `invalid_api_key` or `too_many_invalid_api_keys`.
 */
export async function identifyAgent(context: RequestContext, accounts: Accounts): Promise<Identity> {
  await identify(accounts)(context, async () => {});
  return identityOf(context);
}

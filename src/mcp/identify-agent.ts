/** Authentication of agents: returns whose tools a request to `/mcp` calls. */
import type { Identity } from "../accounts/accounts.ts";
import { parseApiKey } from "../accounts/api-key.ts";
import { identityOf, type RequestContext } from "../http/context.ts";
import { identify } from "../http/middleware/identify.ts";
import { agentScopes } from "../http/oauth/metadata.ts";
import type { SiteServices } from "../http/service-state.ts";

/**
 * Returns the identity of the API key or the access token in `Authorization: Bearer`. Refuses as the API refuses a request: with
 * `missing_api_key`, `invalid_api_key` or `too_many_invalid_api_keys`. A refusal names the metadata by which a client finds the sign-in.
 */
export async function identifyAgent(
  context: RequestContext,
  { accounts, authorization }: Pick<SiteServices, "accounts" | "authorization">,
): Promise<Identity> {
  context.state.challengeParameters = [
    `scope="${agentScopes.join(" ")}"`,
    `resource_metadata="${authorization.resourceMetadataUrl}"`,
  ];
  const [, token = ""] = /^bearer\s+(.*)$/i.exec(context.get("Authorization")) ?? [];
  if (token === "" || parseApiKey(token) !== undefined) await identify(accounts)(context, async () => {});
  else context.state.identity = await authorization.identify(token, context);
  return identityOf(context);
}

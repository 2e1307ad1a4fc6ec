/** Authentication of agents: returns whose tools a request to `/mcp` calls. */
import type { Identity } from "../accounts/accounts.ts";
import { parseApiKey } from "../accounts/keys/api-key.ts";
import { Refusal } from "../contract/errors.ts";
import { identityOf, type RequestContext } from "../http/context.ts";
import { identify } from "../http/middleware/identify.ts";
import { agentScopes } from "../http/oauth/metadata.ts";
import type { SiteServices } from "../http/service/service-state.ts";

/**
 * Returns the identity of the API key or the access token in `Authorization: Bearer`. Refuses as the API refuses a request: with
 * `missing_api_key`, `invalid_api_key` or `too_many_invalid_api_keys`. A refusal names the metadata by which a client finds the sign-in.
 */
export async function identifyAgent(
  context: RequestContext,
  { accounts, authorization }: Pick<SiteServices, "accounts" | "authorization">,
): Promise<Identity> {
  challengeWith(context, agentScopes, authorization.resourceMetadataUrl);
  if (accounts.isOpen) {
    await identify(accounts)(context, async () => {});
    return identityOf(context);
  }
  const [, token = ""] = /^bearer\s+(.*)$/i.exec(context.get("Authorization")) ?? [];
  if (token === "" || parseApiKey(token) !== undefined) await identify(accounts)(context, async () => {});
  else context.state.identity = await authorization.identify(token, context);
  return identityOf(context);
}

/**
 * Refuses a request of an access token that lacks a scope with `missing_scope`, and names the scopes to ask for, so that its client can
 * ask the account holder. Keys get the refusal as the result of the tool.
 */
export function requireTokenScopes(
  context: RequestContext,
  { key }: Identity,
  needed: readonly string[],
  { authorization }: Pick<SiteServices, "authorization">,
): void {
  const granted: readonly string[] = key.scopes;
  const missing = needed.find((scope) => !granted.includes(scope));
  if (key.clientId === null || missing === undefined) return;
  challengeWith(context, [...new Set([...granted, ...needed])], authorization.resourceMetadataUrl);
  throw new Refusal(
    "missing_scope",
    `This access token lacks the scope ${missing}: expected one with that scope. Authorize the client again.`,
  );
}

/** Adds to a refusal the scopes to ask for, and the metadata by which a client finds the sign-in. */
function challengeWith(context: RequestContext, scopes: readonly string[], metadataUrl: string): void {
  context.state.challengeParameters = [`scope="${scopes.join(" ")}"`, `resource_metadata="${metadataUrl}"`];
}

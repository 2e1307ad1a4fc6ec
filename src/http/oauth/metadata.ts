/**
 * The metadata that agents discover the sign-in by, of the authorization server (RFC 8414) and of the agent server as the resource that it protects
 * (RFC 9728), and the redirect URIs that clients can register.
 */
import { InvalidClientMetadata } from "oidc-provider/lib/helpers/errors.js";
import { type ApiScope, defaultScopes } from "../../accounts/keys/keys.ts";
import type { RequestContext } from "../context.ts";

/** The scopes that an agent can be given. No tool exports listings. */
export const agentScopes: readonly ApiScope[] = defaultScopes;

export const oauthPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
} as const;

/** The path of the page that asks for consent; the id of the authorization request follows. */
export const consentPath = "/oauth/consent";

/** How clients authenticate: most are public, and prove themselves by PKCE alone. */
export const clientAuthMethods = ["none", "client_secret_basic", "client_secret_post"] as const;

/** Returns the URL of the resource that access tokens are bound to. */
export const agentResource = (baseUrl: string): string => `${baseUrl}/mcp`;

/** The paths of the metadata of the resource: the one for its path, and the one of the host, for clients that do not append paths. */
export const resourceMetadataPaths = [
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-protected-resource",
] as const;

export const resourceMetadataUrl = (baseUrl: string): string => `${baseUrl}${resourceMetadataPaths[0]}`;

export const resourceMetadata = (baseUrl: string): object => ({
  resource: agentResource(baseUrl),
  authorization_servers: [baseUrl],
  scopes_supported: agentScopes,
  bearer_methods_supported: ["header"],
  resource_name: "Carquet",
  resource_documentation: `${baseUrl}/docs`,
});

/** The path of the metadata of the authorization server. One path suffices, because its issuer has no path. */
export const serverMetadataPath = "/.well-known/oauth-authorization-server";

export const serverMetadata = (baseUrl: string): object => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}${oauthPaths.authorization}`,
  token_endpoint: `${baseUrl}${oauthPaths.token}`,
  registration_endpoint: `${baseUrl}${oauthPaths.registration}`,
  revocation_endpoint: `${baseUrl}${oauthPaths.revocation}`,
  scopes_supported: agentScopes,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: clientAuthMethods,
  revocation_endpoint_auth_methods_supported: clientAuthMethods,
  code_challenge_methods_supported: ["S256"],
  client_id_metadata_document_supported: true,
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${baseUrl}/docs`,
});

/** Schemes of apps whose redirects are fixed and lack the dot of a reversed domain. */
const appSchemes = ["cursor", "vscode", "vscode-insiders", "windsurf"];

/** Throws an error of the protocol unless every URI is `https`, `http` on this computer, or of an app's scheme (RFC 8252). */
export function checkRedirectUris(uris: readonly string[]): void {
  for (const uri of uris) {
    if (isAllowed(uri)) continue;
    throw new InvalidClientMetadata(
      `redirect_uris has ${uri}: expected https, http on this computer, or a private-use scheme with a dot, without user name or password`,
    );
  }
}

function isAllowed(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname, username, password } = new URL(uri);
  if (username !== "" || password !== "") return false;
  const scheme = protocol.slice(0, -1);
  if (scheme === "https") return true;
  if (scheme === "http") return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return scheme.includes(".") || appSchemes.includes(scheme);
}

/**
 * Returns what is wrong with an authorization request that was answered at once with a redirect to its client; undefined for any other
 * response. Anybody can register a client, so that such a redirect would make this service lead to any address (RFC 9700).
 */
export function unseenRedirectOf({ response }: RequestContext, ownUrl: string): string | undefined {
  const { location } = response.headers;
  if (typeof location !== "string" || !URL.canParse(location, ownUrl)) return undefined;
  const { origin, searchParams } = new URL(location.replace("#", "?"), ownUrl);
  if (origin === new URL(ownUrl).origin) return undefined;
  return searchParams.get("error_description") ?? searchParams.get("error") ?? "The request is invalid.";
}

/** Where browsers may be sent: the redirect URIs that clients can register, and redirects that no account holder has seen. */
import { InvalidClientMetadata } from "oidc-provider/lib/helpers/errors.js";
import type { RequestContext } from "../context.ts";

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

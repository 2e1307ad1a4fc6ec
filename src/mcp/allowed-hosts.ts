/**
 * Which hosts and origins `/mcp` accepts, so that no page of another site reaches a service through the browser of a user (DNS
 * rebinding): the host of the public URL, the host listened on, `localhost`, and IP addresses, which no rebinding can fake.
 */
import { isIP } from "node:net";
import { hostHeaderValidationResponse, originValidationResponse } from "@modelcontextprotocol/server";

export interface KnownHosts {
  readonly publicUrl: string | undefined;
  /** The name or address that the service listens on. */
  readonly host: string;
}

/** Returns the response that refuses a request from elsewhere with a 403; undefined for all others. */
export function foreignHostResponse(request: Request, { publicUrl, host }: KnownHosts): Response | undefined {
  const requested = hostnameOf(`http://${request.headers.get("Host")}`);
  const names = ["localhost", host, ...(publicUrl === undefined ? [] : [hostnameOf(publicUrl)])];
  const isAddress = isIP(requested.replace(/^\[(.*)\]$/, "$1")) !== 0;
  const allowed = isAddress ? [...names, requested] : names;
  return hostHeaderValidationResponse(request, allowed) ?? originValidationResponse(request, [requested, ...names]);
}

const hostnameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "");

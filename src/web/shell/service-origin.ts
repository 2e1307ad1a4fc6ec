/** The origin of the service, as the sender of a request sees it. */
import type { RequestContext } from "../../http/context.ts";

/** Returns the origin that a request was sent to; empty if its `Host` is invalid. */
export function serviceOrigin({ protocol, host }: RequestContext): string {
  const url = `${protocol}://${host}`;
  return URL.canParse(url) ? new URL(url).origin : "";
}

/** What a client declares that it can do. Clients of 2026 declare it with each request; those of 2025 count as able to do nothing optional. */
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from "@modelcontextprotocol/server";
import { isObject } from "../base/json.ts";

/** Returns whether the client can show a form to its user. One that declares no mode can show forms. */
export function canAskUser(context: ServerContext): boolean {
  const elicitation = declared(context).elicitation;
  return isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Returns the settings of an extension of the protocol; undefined if the client does not support it. */
export function extensionOf(context: ServerContext, id: string): Record<string, unknown> | undefined {
  const { extensions } = declared(context);
  const settings = isObject(extensions) ? extensions[id] : undefined;
  return isObject(settings) ? settings : undefined;
}

function declared({ mcpReq }: ServerContext): Record<string, unknown> {
  const envelope: unknown = mcpReq.envelope;
  const capabilities = isObject(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined;
  return isObject(capabilities) ? capabilities : {};
}

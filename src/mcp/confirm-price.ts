/**
 * Confirmation of an expensive call. A client that can ask its user gets the price as a question (`input_required`), and repeats the call with the
 * answer; nothing is charged before. The question is a service to the user, not a protection from the client, so that its answer is not signed.
 */
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { canAskUser } from "./client-capabilities.ts";

/** A call of a higher price is confirmed: a search with `include`, and the export of more than 2,000 listings. */
const unconfirmedMicrosMax = 25_000;

/** Returns a price in US dollars. */
export const priceText = (micros: number): string => `$${(micros / 1_000_000).toFixed(3)}`;

/** Returns the question about a price, or the result of a declined call; undefined if the call may be charged. */
export function confirmPrice(
  name: string,
  micros: number,
  context: ServerContext,
): InputRequiredResult | CallToolResult | undefined {
  if (micros <= unconfirmedMicrosMax || !canAskUser(context)) return undefined;
  // Names the price, so that the answer to another price does not count.
  const key = `pay_${micros}_micros`;
  const response = inputResponse(context.mcpReq.inputResponses, key);
  if (response.kind !== "elicit") {
    const message = `This call of ${name} costs ${priceText(micros)}. Accept to pay for it.`;
    const question = inputRequired.elicit({ message, requestedSchema: { type: "object", properties: {} } });
    return inputRequired({ inputRequests: { [key]: question } });
  }
  if (response.action === "accept") return undefined;
  const text = `Not called: the price of ${priceText(micros)} was not accepted. Nothing was charged.`;
  return { content: [{ type: "text", text }], isError: true };
}

/** Bodies of requests. A body that is too long is not kept, but received up to a limit, so that its client gets to read the response. */
import { Abandoned } from "../db/job.ts";
import type { RequestContext } from "./context.ts";

/** How much of a body that is too long is received, and discarded, before the connection is closed. */
const discardedBytesMax = 8 * 2 ** 20;

/** Reads a body as UTF-8. Returns undefined if it is longer than `bytesMax`. Throws Abandoned if it is malformed, or its client disconnects. */
export async function readBody({ req }: RequestContext, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // By default, leaving the loop destroys the request and the connection that the response needs.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else if (bytes > discardedBytesMax) break;
    }
  } catch (thrown) {
    throw new Abandoned("The body of the request did not arrive.", { cause: thrown });
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks).toString("utf8");
}

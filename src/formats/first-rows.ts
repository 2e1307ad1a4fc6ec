/** The first rows of a file in NDJSON, for readers that show no more of it. */
import { Readable } from "node:stream";
import type { Row } from "../base/json.ts";

/** How much is read: rows, and characters of text. */
interface ReadLimits {
  readonly rowsMax: number;
  readonly charactersMax: number;
}

/** Returns the first rows of NDJSON, a stream or a text: those that are complete within the limits. Closes the stream. */
export async function firstRows(body: unknown, { rowsMax, charactersMax }: ReadLimits): Promise<readonly Row[]> {
  const input = body instanceof Readable ? body.setEncoding("utf8") : [String(body ?? "")];
  let text = "";
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > charactersMax) break;
  }
  const lines = text.slice(0, charactersMax).split("\n");
  if (text.length > charactersMax) lines.pop();
  return lines
    .filter((line) => line !== "")
    .slice(0, rowsMax)
    .map((line): Row => JSON.parse(line));
}

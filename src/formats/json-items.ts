/** Converts lines of JSON to the items of a JSON array, chunk by chunk. */

/** Yields lines as items: `before` the first one, `between` all others, in place of line feeds. No item contains a line feed. */
export async function* jsonItemsOf(
  lines: AsyncIterable<Buffer>,
  before: string,
  between: string,
): AsyncGenerator<Buffer> {
  let separator = before;
  for await (const chunk of lines) {
    // Latin-1 keeps bytes unchanged: a chunk can end within a character of UTF-8.
    const text = chunk.toString("latin1");
    const isWhole = text.endsWith("\n");
    yield Buffer.from(separator + (isWhole ? text.slice(0, -1) : text).replaceAll("\n", between), "latin1");
    separator = isWhole ? between : "";
  }
}

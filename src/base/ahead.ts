/**
 * The items of a source, of which the next one is under way while one is being used. A failure of the source is told in its turn;
 * whoever stops early waits for what is under way.
 */
export async function* ahead<T>(source: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  let coming = source.next();
  try {
    for (let item = await coming; item.done !== true; item = await coming) {
      coming = source.next();
      coming.catch(() => undefined);
      yield item.value;
    }
  } finally {
    await source.return();
  }
}

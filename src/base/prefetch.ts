/** Prefetches the next item of a source while the current one is processed. A failure of the source is thrown in its turn. */
export async function* prefetch<T>(source: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
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

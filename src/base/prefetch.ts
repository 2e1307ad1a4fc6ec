/** Prefetches the next item of a source while the current one is processed. Throws an error of the source when its item is due. */
export async function* prefetch<T>(source: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  let next = source.next();
  try {
    for (let item = await next; item.done !== true; item = await next) {
      next = source.next();
      next.catch(() => undefined);
      yield item.value;
    }
  } finally {
    await source.return();
  }
}

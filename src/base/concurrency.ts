/** Concurrent work: the next item of a source beside the current one, and several promises of which none may outlive a failure. */

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

/** Waits for all promises, then returns their values or throws the first error: none goes on writing what the caller removes, or using what it closes. */
export async function settleAll<const T extends readonly unknown[]>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

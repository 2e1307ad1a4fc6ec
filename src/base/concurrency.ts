/**
 * Concurrent work: the next item of a source beside the current one, several promises of which none may outlive a failure, and work that is done once for
 * all who need it.
 */

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

/** Promises by key: a `Map`, a `WeakMap`, or a cache. */
interface Promises<K, T> {
  get(key: K): Promise<T> | undefined;
  set(key: K, promise: Promise<T>): unknown;
  delete(key: K): unknown;
}

/** Returns the promise of a key. `create` returns it on first use, and another after a failure. */
export function createOnce<K, T>(promises: Promises<K, T>, key: K, create: () => Promise<T>): Promise<T> {
  const known = promises.get(key);
  if (known !== undefined) return known;
  const created = create();
  promises.set(key, created);
  created.catch(() => {
    if (promises.get(key) === created) promises.delete(key);
  });
  return created;
}

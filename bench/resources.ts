/** Resource scopes: releases folders, processes and databases in reverse order of acquisition, also after a failure. */

/** Awaits a resource and registers its release. */
export type Acquire = <T>(opening: Promise<T>, release: (resource: T) => unknown) => Promise<T>;

/** Runs `work`, then releases everything it acquired, the last resource first. Returns the result of `work`. */
export async function withResources<T>(work: (acquire: Acquire) => Promise<T>): Promise<T> {
  const releases: (() => unknown)[] = [];
  try {
    return await work(async (opening, release) => {
      const resource = await opening;
      releases.unshift(() => release(resource));
      return resource;
    });
  } finally {
    for (const release of releases) await release();
  }
}

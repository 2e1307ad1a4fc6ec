/** The bound of requests that changes with each of them. */

/** A bound above all prices: every value finds the same listings. */
export const placeholder = "max_price=NONCE";
const lowestNonce = 9_000_000;
const highestNonce = 10_000_000;
export const nonces = highestNonce - lowestNonce;

/** Returns the path of a request; `nonce` is a number up to `nonces`. */
export const withNonce = (path: string, nonce: number): string =>
  path.replace(placeholder, `max_price=${lowestNonce + nonce}`);

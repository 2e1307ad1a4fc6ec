/** Types of the package negotiator, for what this program uses of version 1; the published ones are of version 0.6. */
declare module "negotiator" {
  import type { IncomingMessage } from "node:http";

  export default class Negotiator {
    constructor(request: { readonly headers: IncomingMessage["headers"] });
    /** Returns the acceptable ones of the offered content codings; those with equal weights in the order of `preferred`. */
    encodings(offered: readonly string[], options: { readonly preferred: readonly string[] }): readonly string[];
    /** Returns the acceptable ones of the offered media types, most preferred first; equal ones in the order offered. */
    mediaTypes(offered: readonly string[]): readonly string[];
  }
}

/** Types of packages that have none for what this program imports. */
// The modules of oidc-provider are imported one by one, because its main module warns of Node.js 20, which it works with.
declare module "oidc-provider/lib/provider.js" {
  export { Provider } from "oidc-provider";
}

declare module "oidc-provider/lib/helpers/errors.js" {
  import { errors } from "oidc-provider";
  export const InvalidClientMetadata: typeof errors.InvalidClientMetadata;
  export const InvalidGrant: typeof errors.InvalidGrant;
  export const InvalidTarget: typeof errors.InvalidTarget;
  export const OIDCProviderError: typeof errors.OIDCProviderError;
  export const TemporarilyUnavailable: typeof errors.TemporarilyUnavailable;
}

declare module "oidc-provider/lib/helpers/interaction_policy/index.js" {
  import { interactionPolicy } from "oidc-provider";
  export const Check: typeof interactionPolicy.Check;
  export const Prompt: typeof interactionPolicy.Prompt;
}

declare module "@koa/cors" {
  import type { Middleware, RequestContext } from "./context.ts";

  interface CorsOptions {
    /** Returns the value of `Access-Control-Allow-Origin`; empty for an origin that is not allowed. */
    readonly origin: (context: RequestContext) => string;
    readonly allowMethods: readonly string[];
    readonly exposeHeaders: readonly string[];
    /** In seconds. */
    readonly maxAge: number;
    /** Whether headers are copied to exceptions, for Koa's own error handler. */
    readonly keepHeadersOnError: boolean;
  }

  /** Returns a middleware. A preflight request may have any headers. */
  export default function cors(options: CorsOptions): Middleware;
}

// The types of Node.js 20 lack Zstandard, which later versions have.
declare module "zlib" {
  type ZstdCallback = (error: Error | null, compressed: Buffer) => void;
  const zstdCompress:
    | ((body: Buffer, options: { readonly params: Readonly<Record<number, number>> }, callback: ZstdCallback) => void)
    | undefined;
  const zstdDecompressSync: ((body: Buffer) => Buffer) | undefined;
  namespace constants {
    const ZSTD_c_compressionLevel: number;
  }
}

// negotiator has published types of version 0.6 only.
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

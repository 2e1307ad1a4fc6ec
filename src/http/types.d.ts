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
}

declare module "oidc-provider/lib/helpers/interaction_policy/index.js" {
  import { interactionPolicy } from "oidc-provider";
  export const Check: typeof interactionPolicy.Check;
  export const Prompt: typeof interactionPolicy.Prompt;
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

/**
 * The OAuth 2.1 authorization server of oidc-provider, reduced to the needs of agents: authorization codes with PKCE (S256), refresh tokens that
 * are replaced with each use, revocation, dynamic registration, client ID metadata documents, and tokens bound to the agent server.
 *
 * Tokens are opaque, so that a revoked one stops working at once; nothing is signed. Cookies name requests by unguessable ids, so that a signature
 * would prove nothing more.
 */
import { generateKeyPairSync } from "node:crypto";
import type { ClientMetadata, Configuration, KoaContextWithOIDC } from "oidc-provider";
import { InvalidTarget } from "oidc-provider/lib/helpers/errors.js";
import { Check, Prompt } from "oidc-provider/lib/helpers/interaction_policy/index.js";
import { Provider } from "oidc-provider/lib/provider.js";
import type { Administration } from "../../accounts/administration/administration.ts";
import { generateAccessToken } from "../../accounts/keys/api-key.ts";
import { secretHash } from "../../base/random-ids.ts";
import {
  agentResource,
  agentScopes,
  checkRedirectUris,
  clientAuthMethods,
  consentPath,
  oauthPaths,
} from "./metadata.ts";
import { stateAdapter } from "./state-adapter.ts";

/** Lifetimes of what is issued. A refresh token is replaced with each use. */
const authorizationRequestSeconds = 900;
const authorizationCodeSeconds = 60;
export const accessTokenSeconds = 3_600;
export const refreshTokenSeconds = 30 * 86_400;

export interface ProviderOptions {
  readonly baseUrl: string;
  readonly administration: Administration;
  readonly fetchDocument: typeof fetch;
  /** Returns true if a request may cause a fetch of a document. The context is undefined outside of requests. */
  readonly allowFetch: (context: KoaContextWithOIDC | undefined) => boolean;
  /** Counts a refresh of the tokens of a grant. Throws an error of the protocol if they are too many. */
  readonly countRefresh: (grantId: string) => void;
  /** Responds to a browser that cannot be redirected to its client. */
  readonly renderError: (context: KoaContextWithOIDC, message: string) => void;
}

export function createProvider(options: ProviderOptions): Provider {
  const provider = new Provider(options.baseUrl, configurationOf(options));
  Object.assign(provider.AccessToken.prototype, {
    generateTokenId(this: { readonly grantId?: string; format?: string }): string {
      this.format = "opaque";
      return generateAccessToken(this.grantId ?? "");
    },
  });
  // The adapter stores a hash of the secret.
  Object.assign(provider.Client.prototype, {
    compareClientSecret(this: { readonly clientSecret?: string }, secret: string): boolean {
      return this.clientSecret === secretHash(secret);
    },
  });
  return provider;
}

/** A request needs the consent of an account holder, who has signed in for it, each time. */
const prompts = [
  new Prompt({ name: "login", requestable: true }),
  new Prompt(
    { name: "consent", requestable: true },
    new Check("consent_missing", "The account holder must consent.", (context) => consentOf(context) === undefined),
  ),
];

const consentOf = (context: KoaContextWithOIDC): string | undefined => context.oidc.result?.consent?.grantId;

function configurationOf({ baseUrl, administration, fetchDocument, ...options }: ProviderOptions): Configuration {
  const resource = agentResource(baseUrl);
  return {
    adapter: (model) => stateAdapter(model, administration, resource),
    jwks: unusedKey(),
    cookies: cookieSettings,
    ttl: lifetimes,
    features: features(resource, options),
    fetch: fetchDocument,
    routes: oauthPaths,
    clientAuthMethods: [...clientAuthMethods],
    scopes: [...agentScopes],
    responseTypes: ["code"],
    pkce: { required: () => true },
    clientDefaults: {
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      id_token_signed_response_alg: "ES256",
    },
    extraClientMetadata: { properties: ["software_id"], validator: (_, _key, _value, metadata) => correct(metadata) },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    loadExistingGrant: (context) => {
      const grantId = consentOf(context);
      return grantId === undefined ? undefined : context.oidc.provider.Grant.find(grantId);
    },
    interactions: { policy: prompts, url: (_, { uid }) => `${consentPath}/${uid}` },
    issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: () => false,
    rotateRefreshToken: ({ oidc }) => {
      options.countRefresh(oidc.entities.RefreshToken?.grantId ?? "");
      return true;
    },
    // A client that revokes its token is disconnected, so that its account holder sees no grant without a token.
    revokeGrantPolicy: () => true,
    renderError: (context, { error, error_description: description }) =>
      options.renderError(context, description ?? error),
  };
}

/**
 * Checks where a client redirects, and corrects its metadata: all are native, which allows what is checked. What a client may do depends on
 * consent alone, so that the scopes which it registers have no meaning. A public client has no secret.
 */
function correct(metadata: ClientMetadata): void {
  checkRedirectUris(metadata.redirect_uris ?? []);
  metadata.application_type = "native";
  delete metadata.scope;
  if (metadata.token_endpoint_auth_method !== "none") return;
  delete metadata.client_secret;
  delete metadata.client_secret_expires_at;
}

/** A signing key, which the provider requires, though nothing is signed. */
function unusedKey(): NonNullable<Configuration["jwks"]> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kty: "EC" }] };
}

const cookieSettings: NonNullable<Configuration["cookies"]> = {
  names: { session: "carquet-oauth-session", interaction: "carquet-oauth-request", resume: "carquet-oauth-resume" },
  long: { httpOnly: true, sameSite: "lax" },
  short: { httpOnly: true, sameSite: "lax" },
};

const lifetimes: NonNullable<Configuration["ttl"]> = {
  AccessToken: accessTokenSeconds,
  AuthorizationCode: authorizationCodeSeconds,
  Interaction: authorizationRequestSeconds,
  RefreshToken: refreshTokenSeconds,
  Session: authorizationRequestSeconds,
};

function features(
  resource: string,
  { allowFetch }: Pick<ProviderOptions, "allowFetch">,
): NonNullable<Configuration["features"]> {
  const off = { enabled: false };
  return {
    devInteractions: off,
    dPoP: off,
    userinfo: off,
    rpInitiatedLogout: off,
    pushedAuthorizationRequests: off,
    revocation: { enabled: true },
    registration: { enabled: true, issueRegistrationAccessToken: false },
    clientIdMetadataDocument: {
      enabled: true,
      ack: "draft-02",
      allowFetch,
      // A document is kept for longer than an authorization request, so that the consent page does not fetch it again.
      cacheDuration: { min: authorizationRequestSeconds, max: 86_400 },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, requested) => {
        if (requested !== resource) throw new InvalidTarget(`expected the resource ${resource}`);
        return { scope: agentScopes.join(" "), audience: resource, accessTokenFormat: "opaque" };
      },
    },
  };
}

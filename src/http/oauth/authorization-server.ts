/**
 * The authorization server of the agent server, by which agents sign in. Serves its metadata and endpoints, provides the content of consent pages,
 * records consent as a grant, and identifies access tokens. A grant is a key of the account that consents.
 */
import compose from "koa-compose";
import type { Interaction, Provider } from "oidc-provider";
import { OIDCProviderError, TemporarilyUnavailable } from "oidc-provider/lib/helpers/errors.js";
import type { Accounts, Identity } from "../../accounts/accounts.ts";
import type { Clock } from "../../accounts/clock.ts";
import type { ApiScope } from "../../accounts/keys/keys.ts";
import { AccessTokens } from "../../accounts/oauth/access-tokens.ts";
import { FailedAuthentications, type FailureLimits } from "../../accounts/policy/failed-authentications.ts";
import { clientNetwork } from "../../base/client-network.ts";
import { parsedJson, repeatedName } from "../../base/json.ts";
import { Abandoned } from "../../db/job.ts";
import { createRouter, type Middleware, type RequestContext, type Routes } from "../context.ts";
import { fetchPublic } from "../service/public-requests.ts";
import {
  agentResource,
  agentScopes,
  oauthPaths,
  resourceMetadata,
  resourceMetadataPaths,
  resourceMetadataUrl,
  serverMetadata,
  serverMetadataPath,
  unseenRedirectOf,
} from "./metadata.ts";

/** Registrations of clients, with fetches of client ID metadata documents, from one client address, and authorization requests. */
export const registrationLimits: FailureLimits = { failuresMax: 60, windowMs: 3_600_000, networksMax: 10_000 };
const requestLimits: FailureLimits = { failuresMax: 100, windowMs: 600_000, networksMax: 10_000 };
/** Refreshes of the tokens of a grant, each of which is kept for as long as a refresh token is valid. */
export const refreshLimits: FailureLimits = { failuresMax: 30, windowMs: 3_600_000, networksMax: 10_000 };

/** The size of a registration. */
export const registrationBytesMax = 8_192;

interface AuthorizationServerOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** Returns the URL of the service that clients use, without a path. */
  readonly baseUrl: () => string;
  readonly fetchDocument?: typeof fetch;
}

/** An authorization request of an agent that waits for the consent of an account holder. */
export interface ConsentRequest {
  /** The client's name for itself; empty if it has none. */
  readonly clientName: string;
  /** The host that the client's metadata was fetched from; undefined for a client that registered itself. */
  readonly clientHost: string | undefined;
  readonly redirectUri: string;
  readonly scopes: readonly ApiScope[];
}

/** Responds to a browser that cannot be redirected to its client. */
export type RenderOAuthError = (context: RequestContext, message: string) => void;

export class AuthorizationServer {
  private provider: Promise<Provider> | undefined;
  private renderError: RenderOAuthError = refuseClient;
  private readonly tokens: AccessTokens;
  /** Answers to authorization requests that are under way, by the request. */
  private readonly answers = new Map<string, Promise<string | undefined>>();
  private readonly registrations: FailedAuthentications;
  private readonly requests: FailedAuthentications;
  private readonly refreshes: FailedAuthentications;

  constructor(private readonly options: AuthorizationServerOptions) {
    const { accounts, clock } = options;
    const nowMs = (): number => clock.monotonicMs();
    this.tokens = new AccessTokens(accounts, clock);
    this.registrations = new FailedAuthentications(registrationLimits, nowMs);
    this.requests = new FailedAuthentications(requestLimits, nowMs);
    this.refreshes = new FailedAuthentications(refreshLimits, nowMs);
  }

  /** Returns the identity of an access token for the agent server. Refuses as an API key is refused. */
  identify(secret: string, context: RequestContext): Promise<Identity> {
    return this.tokens.identify(secret, agentResource(this.options.baseUrl()), clientNetwork(context.ip));
  }

  /** The URL of the metadata of the agent server, for its challenges. */
  get resourceMetadataUrl(): string {
    return resourceMetadataUrl(this.options.baseUrl());
  }

  /** Serves the metadata and the endpoints; passes requests for other paths on. */
  endpoints(renderError: RenderOAuthError): Routes {
    this.renderError = renderError;
    const router = createRouter();
    const { authorization, ...posted } = oauthPaths;
    const answer: Middleware = (context, next) => this.answerEndpoint(context, next);
    router.get(serverMetadataPath, this.serveMetadata(serverMetadata));
    for (const path of resourceMetadataPaths) router.get(path, this.serveMetadata(resourceMetadata));
    router.get([authorization, `${authorization}/:id`], answer);
    router.post(Object.values(posted), answer);
    return router.routes();
  }

  private serveMetadata(metadata: (baseUrl: string) => object): Middleware {
    return async (context) => {
      context.body = metadata(this.options.baseUrl());
      context.set("Cache-Control", "public, max-age=300");
    };
  }

  /** Answers a request of an endpoint, or one that resumes an authorization request. */
  private async answerEndpoint(context: RequestContext, next: () => Promise<unknown>): Promise<void> {
    if (await this.refuse(context)) return;
    const { middleware } = await this.openProvider();
    if (context.path !== oauthPaths.authorization) return compose<RequestContext>(middleware)(context, next);
    context.querystring = withKnownScopes(context.querystring);
    await compose<RequestContext>(middleware)(context, next);
    this.keepOnPage(context);
  }

  /** Answers with a page where the browser would be sent to a client before its account holder has answered. */
  private keepOnPage(context: RequestContext): void {
    const fault = unseenRedirectOf(context, this.options.baseUrl());
    if (fault === undefined) return;
    context.remove("Location");
    context.status = 400;
    this.renderError(context, fault);
  }

  /**
   * Returns the authorization request of a consent page; undefined if it has expired, or is of another browser. Refuses with
   * `metering_unavailable` if the accounts file cannot be read.
   */
  async consentRequest(context: RequestContext, id: string): Promise<ConsentRequest | undefined> {
    const found = await this.findRequest(context, id);
    return found?.consent;
  }

  /**
   * Answers an authorization request: creates a grant of an account, or declines. Returns the path that leads back to the client;
   * undefined if the request has expired, or has been answered. An answer that comes while another one is under way has the same outcome.
   */
  async answer(context: RequestContext, id: string, accountId: string | undefined): Promise<string | undefined> {
    const earlier = this.answers.get(id);
    if (earlier !== undefined) return (await this.findRequest(context, id)) && earlier;
    const answered = this.answerFirst(context, id, accountId).finally(() => this.answers.delete(id));
    this.answers.set(id, answered);
    return answered;
  }

  private async answerFirst(
    context: RequestContext,
    id: string,
    accountId: string | undefined,
  ): Promise<string | undefined> {
    const found = await this.findRequest(context, id);
    if (found === undefined || found.interaction.result !== undefined) return undefined;
    const { provider, interaction, clientId, consent } = found;
    const result =
      accountId === undefined
        ? { error: "access_denied", error_description: "The account holder declined." }
        : { login: { accountId }, consent: { grantId: await this.grant(accountId, clientId, consent) } };
    await provider.interactionResult(context.req, context.res, result, { mergeWithLastSubmission: false });
    return new URL(interaction.returnTo).pathname;
  }

  private grant(accountId: string, clientId: string, { clientName, scopes }: ConsentRequest): Promise<string> {
    const name = `${clientName === "" ? "Agent" : clientName} (OAuth)`;
    return this.options.accounts.administration.change(accountId, "agents connect", {
      accountId,
      clientId,
      scopes,
      name,
    });
  }

  private async findRequest(context: RequestContext, id: string): Promise<FoundRequest | undefined> {
    const provider = await this.openProvider();
    const interaction = await provider.interactionDetails(context.req, context.res).catch(undefinedIfInvalid);
    if (interaction === undefined || interaction.uid !== id) return undefined;
    const { client_id: clientId, redirect_uri: redirectUri, scope } = interaction.params;
    const client = await provider.Client.find(String(clientId)).catch(undefinedIfInvalid);
    if (client === undefined) return undefined;
    const requested = String(scope).split(" ");
    const consent = {
      clientName: plainName(client.clientName ?? ""),
      clientHost: URL.canParse(client.clientId) ? new URL(client.clientId).host : undefined,
      redirectUri: String(redirectUri),
      scopes: agentScopes.filter((known) => requested.includes(known)),
    };
    return { provider, interaction, clientId: client.clientId, consent };
  }

  /** Creates the provider at the first request, when the service listens and its URL is known; again after a failure. */
  private openProvider(): Promise<Provider> {
    const { baseUrl, accounts, fetchDocument = fetchPublic() } = this.options;
    this.provider ??= import("./provider.ts").then(({ createProvider }) => {
      const provider = createProvider({
        baseUrl: baseUrl(),
        administration: accounts.administration,
        fetchDocument,
        // Without a request, the document is that of a client whose request has been allowed.
        allowFetch: (context) => context === undefined || this.countRegistration(context) === undefined,
        countRefresh: (grantId) => this.countRefresh(grantId),
        renderError: (context, message) => this.renderError(context, message),
      });
      provider.on("server_error", ({ state }, error) => state.log.error({ err: error }, "authorization server error"));
      return provider;
    });
    this.provider.catch(() => {
      this.provider = undefined;
    });
    return this.provider;
  }

  /** Answers requests that are too many, too large or ambiguous, or want their answer in a form. Returns false for others. */
  private async refuse(context: RequestContext): Promise<boolean> {
    const network = clientNetwork(context.ip);
    if (context.path === oauthPaths.authorization) {
      const { response_mode: mode = "query" } = context.query;
      if (mode !== "query") {
        context.status = 400;
        this.renderError(context, `Invalid response_mode ${String(mode)}: expected query.`);
        return true;
      }
      const retryAfterSeconds = this.requests.count(network);
      if (retryAfterSeconds !== undefined) this.renderError(context, tooMany(context, retryAfterSeconds));
      return retryAfterSeconds !== undefined;
    }
    if (context.path !== oauthPaths.registration) return false;
    if ((context.request.length ?? Number.POSITIVE_INFINITY) > registrationBytesMax) {
      refuseClient(context, `Registration too large: expected Content-Length up to ${registrationBytesMax}.`, 413);
      return true;
    }
    const retryAfterSeconds = this.countRegistration(context);
    const repeated = retryAfterSeconds === undefined ? await repeatedNameIn(context) : undefined;
    if (retryAfterSeconds !== undefined) refuseClient(context, tooMany(context, retryAfterSeconds), 429);
    else if (repeated !== undefined)
      refuseClient(context, `${repeated} twice in the registration: expected each name once.`, 400);
    return retryAfterSeconds !== undefined || repeated !== undefined;
  }

  /** Counts a refresh of the tokens of a grant. Throws an error of the protocol if they are too many. */
  private countRefresh(grantId: string): void {
    if (this.refreshes.count(grantId) === undefined) return;
    throw new TemporarilyUnavailable(
      `Too many refreshes: expected at most ${refreshLimits.failuresMax} of a grant in an hour.`,
    );
  }

  /** Counts a registration of a client, or a fetch of its metadata. Returns the seconds until the next one is allowed; undefined if this one is. */
  private countRegistration(context: RequestContext): number | undefined {
    return this.registrations.count(clientNetwork(context.ip));
  }
}

/** Returns undefined for an error of the protocol, such as a request that has expired; rethrows any other, such as an outage of the accounts. */
function undefinedIfInvalid(thrown: unknown): undefined {
  if (!(thrown instanceof OIDCProviderError)) throw thrown;
}

/** Returns a name that an object of a JSON body has twice, of which the provider would use the last. The body stays to be read. */
async function repeatedNameIn({ req, request: { length = 0 } }: RequestContext): Promise<string | undefined> {
  let body = Buffer.of();
  try {
    // Up to the last byte, and not to the end, after which nothing can be put back.
    const chunks = length === 0 ? [] : req.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) {
      body = Buffer.concat([body, chunk]);
      if (body.length >= length) break;
    }
  } catch (cause) {
    throw new Abandoned("The body of the request did not arrive.", { cause });
  }
  req.unshift(body);
  const text = body.toString();
  return parsedJson(text) === undefined ? undefined : repeatedName(text);
}

interface FoundRequest {
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly clientId: string;
  readonly consent: ConsentRequest;
}

/** Drops unknown scopes from an authorization request; one without any known scope requests every scope that agents can have. */
function withKnownScopes(querystring: string): string {
  const query = new URLSearchParams(querystring);
  const requested = query.get("scope")?.split(" ") ?? [];
  const known = agentScopes.filter((scope) => requested.includes(scope));
  query.set("scope", (known.length === 0 ? agentScopes : known).join(" "));
  return query.toString();
}

/** Returns the name of a client without characters that have no shape or change the direction of text, in the length of a key's name. */
const plainName = (name: string): string =>
  name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
    .trim()
    .slice(0, 60);

function tooMany(context: RequestContext, retryAfterSeconds: number): string {
  context.status = 429;
  context.set("Retry-After", String(retryAfterSeconds));
  return `Too many requests from this address. Retry in ${Math.ceil(retryAfterSeconds / 60)} minutes.`;
}

/** Responds to a client that is not a browser. */
function refuseClient(context: RequestContext, message: string, status = context.status): void {
  context.status = status;
  context.body = {
    error: status === 429 ? "temporarily_unavailable" : "invalid_client_metadata",
    error_description: message,
  };
}

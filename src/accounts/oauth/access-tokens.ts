/**
 * Authentication by access tokens. A token is bound to one resource, and used like the key of its grant. Cached tokens are less than a
 * second old, so that a revoked one stops working within a second. Invalid tokens are cached too.
 */
import { LRUCache } from "lru-cache";
import { createOnce } from "../../base/concurrency.ts";
import { secretHash } from "../../base/random-ids.ts";
import { Refusal } from "../../contract/errors.ts";
import type { Accounts, Identity } from "../accounts.ts";
import type { Clock } from "../clock.ts";
import { isAccessToken } from "../keys/api-key.ts";
import type { AccessToken } from "./oauth-state.ts";

const validMs = 900;
const tokensMax = 10_000;

interface CachedToken {
  readonly token: AccessToken | null;
  readonly loadedAtMs: number;
}

export class AccessTokens {
  private readonly tokens = new LRUCache<string, CachedToken>({ max: tokensMax });
  private readonly loading = new Map<string, Promise<AccessToken | null>>();

  constructor(
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the identity of an access token for a resource: the key of its grant, with the scopes of the token. Refuses with
   * `invalid_api_key` a token that has expired, is revoked, or is for another resource, and with `too_many_invalid_api_keys` and
   * `metering_unavailable`, as keys are refused.
   */
  async identify(secret: string, resource: string, network: string): Promise<Identity> {
    const token = await this.find(secret, network);
    if (token === null || token.audience !== resource || token.expiresAtMs <= this.clock.wallMs()) throw invalidToken();
    const { key, cached } = await this.accounts.identityOfKey(token.keyId).catch((thrown: unknown) => {
      throw thrown instanceof Refusal && thrown.code === "invalid_api_key" ? invalidToken() : thrown;
    });
    const granted = token.scope.split(" ");
    return { key: { ...key, scopes: key.scopes.filter((scope) => granted.includes(scope)) }, cached };
  }

  /**
   * Returns a token that is neither unknown nor revoked. An attempt counts as failed until the token turns out to be valid; one with a token that was
   * valid at its last look-up, or is being looked up, counts only after the look-up, and only if the token is invalid.
   */
  private async find(secret: string, network: string): Promise<AccessToken | null> {
    const sha256 = secretHash(secret);
    const cached = this.tokens.get(sha256);
    const isFresh = cached !== undefined && this.clock.monotonicMs() - cached.loadedAtMs <= validMs;
    if (isFresh && cached.token !== null) return cached.token;
    if ((cached?.token ?? null) !== null || this.loading.has(sha256)) {
      const token = await this.load(sha256);
      if (token === null) this.accounts.countFailure(network);
      return token;
    }
    this.accounts.countFailure(network);
    if (isFresh || !isAccessToken(secret)) return null;
    let token: AccessToken | null | undefined;
    try {
      token = await this.load(sha256);
      return token;
    } finally {
      if (token !== null) this.accounts.uncountFailure(network);
    }
  }

  /** Looks up a token; concurrent callers share one look-up. */
  private load(sha256: string): Promise<AccessToken | null> {
    return createOnce(this.loading, sha256, async () => {
      const loadedAtMs = this.clock.monotonicMs();
      try {
        const token = await this.accounts.findToken(sha256);
        this.tokens.set(sha256, { token, loadedAtMs });
        return token;
      } finally {
        this.loading.delete(sha256);
      }
    });
  }
}

const invalidToken = (): Refusal =>
  new Refusal(
    "invalid_api_key",
    "Invalid access token: expected one for this resource that has neither expired nor been revoked.",
  );

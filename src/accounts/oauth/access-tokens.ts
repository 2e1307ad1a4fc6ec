/**
 * Authentication by access tokens. A token is bound to one resource, and used like the key of its grant. Cached tokens are less than a
 * second old, so that a revoked one stops working within a second. Invalid tokens are cached too.
 */
import { LRUCache } from "lru-cache";
import { secretHash } from "../../base/random-ids.ts";
import { Refusal } from "../../contract/errors.ts";
import type { Accounts, Identity } from "../accounts.ts";
import type { Clock } from "../clock.ts";
import { isAccessToken } from "../keys/api-key.ts";
import type { AccessToken } from "./oauth-state.ts";

const [validMs, tokensMax] = [900, 10_000];

interface CachedToken {
  readonly token: AccessToken | null;
  readonly loadedAtMs: number;
}

export class AccessTokens {
  private readonly tokens = new LRUCache<string, CachedToken>({ max: tokensMax });

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

  /** Returns a token that is neither unknown nor revoked. An attempt counts as failed until the token turns out to be valid. */
  private async find(secret: string, network: string): Promise<AccessToken | null> {
    const sha256 = secretHash(secret);
    const cached = this.tokens.get(sha256);
    const known =
      cached !== undefined && this.clock.monotonicMs() - cached.loadedAtMs <= validMs ? cached.token : undefined;
    if (known !== undefined && known !== null) return known;
    this.accounts.countFailure(network);
    if (known === null || !isAccessToken(secret)) return null;
    const loadedAtMs = this.clock.monotonicMs();
    const token = await this.accounts.findToken(sha256);
    this.tokens.set(sha256, { token, loadedAtMs });
    if (token !== null) this.accounts.uncountFailure(network);
    return token;
  }
}

const invalidToken = (): Refusal =>
  new Refusal(
    "invalid_api_key",
    "Invalid access token: expected one for this resource that has neither expired nor been revoked.",
  );

/** Authentication by access tokens. A token is bound to one resource, and used like the key of its grant. */
import { secretHash } from "../../base/random-ids.ts";
import { Refusal } from "../../contract/errors.ts";
import type { Accounts, Identity } from "../accounts.ts";
import type { Clock } from "../clock.ts";
import { isAccessToken } from "../keys/api-key.ts";
import { CredentialCache } from "../keys/credential-cache.ts";
import { type AccessToken, findAccessToken } from "./oauth-state.ts";

export class AccessTokens extends CredentialCache<AccessToken> {
  constructor(
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {
    super(() => clock.monotonicMs());
  }

  /**
   * Returns the identity of an access token for a resource: the key of its grant, with the scopes of the token. Refuses with
   * `invalid_api_key` a token that has expired, is revoked, or is for another resource, and with `too_many_invalid_api_keys` and
   * `metering_unavailable`, as keys are refused.
   */
  async identify(secret: string, resource: string, network: string): Promise<Identity> {
    const sha256 = isAccessToken(secret) ? secretHash(secret) : undefined;
    const token = await this.accounts.authenticate(this, sha256, network);
    if (token?.audience !== resource || token.expiresAtMs <= this.clock.wallMs()) throw invalidToken();
    const { key, cached } = await this.accounts.identityOfKey(token.keyId).catch((thrown: unknown) => {
      throw thrown instanceof Refusal && thrown.code === "invalid_api_key" ? invalidToken() : thrown;
    });
    const granted = token.scope.split(" ");
    return { key: { ...key, scopes: key.scopes.filter((scope) => granted.includes(scope)) }, cached };
  }

  protected find(sha256: string): Promise<AccessToken | undefined> {
    return this.accounts.administration.call(findAccessToken, sha256, this.clock.wallMs());
  }
}

const invalidToken = (): Refusal =>
  new Refusal(
    "invalid_api_key",
    "Invalid access token: expected one for this resource that has neither expired nor been revoked.",
  );

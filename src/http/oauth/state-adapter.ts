/**
 * Adapter of oidc-provider over the accounts file. A grant is a key of its account, so that limits, usage and revocation are those of keys;
 * all other state lies in `oauth_state`. Secrets, among them the ids of state, are stored as hashes.
 */
import type { Adapter, AdapterPayload } from "oidc-provider";
import { InvalidGrant } from "oidc-provider/lib/helpers/errors.js";
import type { Administration } from "../../accounts/administration/administration.ts";
import { findGrant } from "../../accounts/keys/keys.ts";
import {
  consumeState,
  deleteState,
  deleteStateOfGrant,
  findState,
  saveState,
} from "../../accounts/oauth/oauth-state.ts";
import { isObject } from "../../base/json.ts";
import { secretHash } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";

/** How long a registered client is kept that has not been given a token, and since it was last given one. */
export const unusedClientMs = 86_400_000;
const usedClientMs = 90 * 86_400_000;

/** Returns the adapter of a model. `resource` is the resource of all grants. */
export function stateAdapter(model: string, administration: Administration, resource: string): Adapter {
  if (model === "Session") return sessionAdapter;
  return model === "Grant" ? new GrantAdapter(administration, resource) : new StateAdapter(model, administration);
}

/** State that is found by its id only. */
abstract class UnlistedAdapter {
  async findByUserCode(): Promise<undefined> {}
  async findByUid(): Promise<undefined> {}
}

class StateAdapter extends UnlistedAdapter implements Adapter {
  constructor(
    private readonly kind: string,
    private readonly administration: Administration,
  ) {
    super();
  }

  async upsert(id: string, { jti: _, ...payload }: AdapterPayload, seconds?: number): Promise<void> {
    const { nowMs } = this.administration;
    const { grantId: keyId = null, clientId, client_secret: secret } = payload;
    const content = secret === undefined ? payload : { ...payload, client_secret: secretHash(secret) };
    const expiresAtMs = nowMs + (seconds === undefined ? unusedClientMs : seconds * 1000);
    const state = { ...this.nameOf(id), keyId, expiresAtMs, content: JSON.stringify(content) };
    const client = { kind: "Client", sha256: secretHash(clientId ?? ""), untilMs: nowMs + usedClientMs };
    const isUsed = /^(Access|Refresh)Token$/.test(this.kind) && clientId !== undefined;
    await this.administration.call(saveState, state, isUsed ? client : undefined);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await this.administration.call(findState, this.nameOf(id), this.administration.nowMs);
    const payload: unknown = JSON.parse(found?.content ?? "null");
    if (found === undefined || !isObject(payload)) return undefined;
    const consumed = found.consumedAtMs === null ? {} : { consumed: Math.floor(found.consumedAtMs / 1000) };
    // A client is found by `client_id`, which its content has.
    return this.kind === "Client" ? payload : { ...payload, jti: id, ...consumed };
  }

  /** Consumes a code or token. One of several concurrent requests with it succeeds. */
  async consume(id: string): Promise<void> {
    const isFirst = await this.administration.call(consumeState, this.nameOf(id), this.administration.nowMs);
    if (!isFirst) throw new InvalidGrant("used already");
  }

  async destroy(id: string): Promise<void> {
    await this.administration.call(deleteState, this.nameOf(id));
  }

  async revokeByGrantId(keyId: string): Promise<void> {
    await this.administration.call(deleteStateOfGrant, this.kind, keyId);
  }

  private nameOf(id: string): { readonly kind: string; readonly sha256: string } {
    return { kind: this.kind, sha256: secretHash(id) };
  }
}

/** Grants are created by the consent page, and found and revoked here. */
class GrantAdapter extends UnlistedAdapter implements Adapter {
  constructor(
    private readonly administration: Administration,
    private readonly resource: string,
  ) {
    super();
  }

  async find(keyId: string): Promise<AdapterPayload | undefined> {
    const grant = await this.administration.call(findGrant, keyId);
    if (grant === undefined || grant.clientId === null) return undefined;
    const { accountId, clientId, scopes, createdAtMs } = grant;
    const resources = { [this.resource]: scopes.join(" ") };
    return { jti: keyId, accountId, clientId, iat: Math.floor(createdAtMs / 1000), kind: "Grant", resources };
  }

  async destroy(keyId: string): Promise<void> {
    try {
      await this.administration.change("service", "keys revoke", { keyId });
    } catch (thrown) {
      if (!(thrown instanceof UserError)) throw thrown;
    }
  }

  async upsert(): Promise<void> {}
  async consume(): Promise<void> {}
  async revokeByGrantId(): Promise<void> {}
}

/** The provider's own sessions are not kept: who is signed in is known from the session of the web application. */
class SessionAdapter extends UnlistedAdapter implements Adapter {
  async upsert(): Promise<void> {}
  async find(): Promise<undefined> {}
  async consume(): Promise<void> {}
  async destroy(): Promise<void> {}
  async revokeByGrantId(): Promise<void> {}
}

const sessionAdapter = new SessionAdapter();

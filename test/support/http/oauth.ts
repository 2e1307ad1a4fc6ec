/** An OAuth client for tests, and the browser of an account holder who answers its requests, over HTTP. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { ServeOptions } from "../../../src/http/service/service-state.ts";
import { mountAgents } from "../../../src/mcp/mount-agents.ts";
import { mountSite } from "../../../src/web/site.ts";
import { csrfTokenIn, sendForm } from "./forms.ts";
import type { Client } from "./service.ts";

/** Mounts the agent server and the web application, as `carquet serve` does. */
export const mountAll: NonNullable<ServeOptions["mountSite"]> = (app, services) => {
  mountAgents(app, services);
  mountSite(app, services);
};

export const redirectUri = "http://127.0.0.1:7777/callback";

export interface TokenAnswer {
  readonly status: number;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly error: string;
}

type Fields = Readonly<Record<string, string>>;

/** Registers a client. Returns its metadata with the status. */
export async function registerClient(url: string, metadata: object = {}): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ client_name: "Test agent", redirect_uris: [redirectUri], ...metadata });
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${url}/oauth/register`, { method: "POST", headers, body });
  return { ...((await response.json()) as object), status: response.status };
}

/** A request of a client, and how its account holder answers it. */
export interface Authorization {
  readonly clientId: string;
  readonly answer?: "allow" | "decline";
  /** Parameters that replace those of a valid request; those that are empty are left out. */
  readonly parameters?: Fields;
}

/** A client with a code verifier, of a service. */
export class OAuthClient {
  readonly verifier = randomBytes(32).toString("base64url");
  /** Cookies of the account holder's browser. */
  private readonly cookies = new Map<string, string>();

  constructor(private readonly service: Client) {}

  /** Sends an authorization request without following its redirect. */
  async request({ clientId, parameters = {} }: Authorization): Promise<Response> {
    const all: Fields = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      state: "s",
      scope: "inventory.read",
      code_challenge: createHash("sha256").update(this.verifier).digest("base64url"),
      code_challenge_method: "S256",
      resource: `${this.service.url}/mcp`,
      ...parameters,
    };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
    return this.open(`/oauth/authorize?${new URLSearchParams(given)}`);
  }

  /** Opens the consent page of a request, signed in to an account. */
  async openConsent(request: Response, accountId = this.service.customer.accountId): Promise<string> {
    assert.equal(request.status, 303, await request.clone().text());
    this.cookies.set("carquet-session", String(await this.service.sessions.create({ accountId })));
    return (await this.open(request.headers.get("Location") ?? "")).text();
  }

  /** Sends the form of the consent page of a request. */
  answer(request: Response, page: string, answer: "allow" | "decline"): Promise<Response> {
    const fields = { csrf_token: csrfTokenIn(page), answer };
    const cookie = this.cookieHeader();
    return sendForm(this.service.url, request.headers.get("Location") ?? "", fields, { cookie });
  }

  /** Authorizes the client as an account holder does. Returns the URL that the browser is sent back to. */
  async authorize({ answer = "allow", ...authorization }: Authorization): Promise<URL> {
    const request = await this.request(authorization);
    const answered = await this.answer(request, await this.openConsent(request), answer);
    const [, next = ""] = /^0; url=(.+)$/.exec(answered.headers.get("Refresh") ?? "") ?? [];
    assert.notEqual(next, "", await answered.text());
    const returned = await this.open(next);
    return new URL(returned.headers.get("Location") ?? "");
  }

  /** Authorizes the client, and redeems its code. */
  async connect(authorization: Authorization): Promise<TokenAnswer> {
    const { searchParams } = await this.authorize(authorization);
    return this.redeem(authorization.clientId, searchParams.get("code") ?? "");
  }

  redeem(clientId: string, code: string, fields: Fields = {}): Promise<TokenAnswer> {
    return this.sendToken({
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: this.verifier,
      ...fields,
    });
  }

  refresh(clientId: string, refreshToken: string, fields: Fields = {}): Promise<TokenAnswer> {
    return this.sendToken({ grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId, ...fields });
  }

  private async sendToken(fields: Fields): Promise<TokenAnswer> {
    const body = new URLSearchParams(fields);
    const response = await fetch(`${this.service.url}/oauth/token`, { method: "POST", body });
    return { ...((await response.json()) as TokenAnswer), status: response.status };
  }

  private async open(path: string): Promise<Response> {
    const headers = { Cookie: this.cookieHeader() };
    const response = await fetch(new URL(path, this.service.url), { redirect: "manual", headers });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.cookies.set(name, value);
    }
    return response;
  }

  private cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}

/** Registers a client with a name, and connects it to the customer's account. */
export async function connectClient(
  service: Client,
  name: string,
  parameters: Fields = {},
): Promise<{ readonly client: OAuthClient; readonly id: string; readonly tokens: TokenAnswer }> {
  const id = String((await registerClient(service.url, { client_name: name })).client_id);
  const client = new OAuthClient(service);
  return { client, id, tokens: await client.connect({ clientId: id, parameters }) };
}

/** Returns the answer of the agent server to a request with a credential: for its tools, or for a call of one. */
export const callAgentServer = (url: string, credential?: string, tool?: string): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      ...(credential === undefined ? {} : { Authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      ...(tool === undefined
        ? { method: "tools/list" }
        : { method: "tools/call", params: { name: tool, arguments: {} } }),
    }),
  });

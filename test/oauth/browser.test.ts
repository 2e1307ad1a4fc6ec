/** The whole sign-in of an agent in a real browser, by the client of the MCP SDK, and the pages that its owner sees. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { eventually } from "../support/command-line.ts";
import { launchBrowser, skipWithoutBrowser } from "../support/http/browser.ts";
import { createLinkSecret } from "../support/http/forms.ts";
import { mountAll } from "../support/http/oauth.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone } from "../support/web/site.ts";

const skip = skipWithoutBrowser;

/** An agent on this computer: keeps tokens in memory, and receives the browser's redirect on a separate port. */
class Agent implements OAuthClientProvider {
  readonly clientMetadata: OAuthClientMetadata;
  authorizationUrl: URL | undefined;
  private information: StoredOAuthClientInformation | undefined;
  private stored: StoredOAuthTokens | undefined;
  private verifier = "";
  private readonly returned: URL[] = [];

  private constructor(
    readonly redirectUrl: string,
    scope?: string,
  ) {
    this.clientMetadata = {
      client_name: "Claude",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      ...(scope === undefined ? {} : { scope }),
    };
  }

  static async start(scope?: string): Promise<Agent> {
    const server = createServer((request, response) => {
      const { url = "" } = request;
      if (url.startsWith("/callback")) agent.returned.push(new URL(url, agent.redirectUrl));
      response.setHeader("Content-Type", "text/html").end("<h1>Back in the agent</h1>");
    });
    onScopeEnd(fileScope, async () => server.close().closeAllConnections());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const agent = new Agent(`http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, scope);
    return agent;
  }

  /** The parameters with which the browser came back last. */
  get answer(): URLSearchParams {
    return this.returned.at(-1)?.searchParams ?? new URLSearchParams();
  }

  clientInformation = (): StoredOAuthClientInformation | undefined => this.information;
  saveClientInformation(information: StoredOAuthClientInformation): void {
    this.information = information;
  }
  tokens = (): StoredOAuthTokens | undefined => this.stored;
  saveTokens(tokens: StoredOAuthTokens): void {
    this.stored = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }
  codeVerifier = (): string => this.verifier;
}

const clientOf = (): Client => new Client({ name: "test", version: "1" });

/** Connects until the agent needs its owner. Returns the transport that the sign-in is finished with. */
async function connectUnauthorized(url: string, agent: Agent): Promise<StreamableHTTPClientTransport> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: agent });
  await assert.rejects(clientOf().connect(transport), UnauthorizedError);
  assert.ok(agent.authorizationUrl);
  return transport;
}

test("an agent is connected through sign-in and consent, is charged, is shown, and is disconnected", {
  skip,
}, async () => {
  const { lake } = await createLake(fileScope);
  const { url, accounts, customer } = await startService(fileScope, lake, { mountSite: mountAll });
  const browser = await launchBrowser(fileScope, { viewport: { width: 1280, height: 900 } });
  const page = await browser.newPage();
  const violations: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) violations.push(message.text());
  });
  const password = "correct horse battery";
  await page.goto(`${url}/invitation?token=${await createLinkSecret(accounts, customer.accountId, "invitation")}`);
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("The same again").fill(password);
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();

  const agent = await Agent.start();
  const transport = await connectUnauthorized(url, agent);
  await page.goto(agent.authorizationUrl?.href ?? "");
  await page.getByLabel("Email or account id").fill(customer.accountId);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Connect an agent" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("heading", { name: "Back in the agent" }).waitFor();
  await transport.finishAuth(agent.answer);

  const client = clientOf();
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: agent }));
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "search_listings"));
  const answer = await client.callTool({ name: "search_listings", arguments: { limit: 1 } });
  assert.equal(answer.isError ?? false, false);

  await page.goto(`${url}/account`);
  const row = page.locator("#keys").getByRole("row").filter({ hasText: "Claude (OAuth)" });
  await row.waitFor();
  await eventually("its use is seen", async () => {
    await page.reload();
    return !((await row.textContent()) ?? "").includes("never");
  });
  await assertAccessible(page);
  await page.goto(`${url}/account`);
  await page.getByRole("row").filter({ hasText: "Listing search" }).first().waitFor();

  await page.goto(`${url}/account`);
  await row.getByText("Disconnect", { exact: true }).click();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Disconnect the agent" }).click();
  await row.waitFor({ state: "detached" });
  await assertFitsPhone(page);
  await eventually(
    "it is refused",
    async () =>
      client.listTools().then(
        () => false,
        () => true,
      ),
    2_000,
  );

  const declined = await Agent.start("inventory.read");
  await connectUnauthorized(url, declined);
  await page.goto(declined.authorizationUrl?.href ?? "");
  await assertFitsPhone(page);
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByRole("heading", { name: "Back in the agent" }).waitFor();
  assert.equal(declined.answer.get("error"), "access_denied");
  assert.deepEqual(violations, []);
});

/** The consent page of OAuth: the agent, its scopes with their prices, and the account that pays. */
import type { ComponentChildren, JSX } from "preact";
import type { ApiScope } from "../../accounts/keys/keys.ts";
import { isMetered, pricesOf } from "../../accounts/policy/prices.ts";
import { operations } from "../../contract/document.ts";
import type { ConsentRequest, RenderOAuthError } from "../../http/oauth/authorization-server.ts";
import { consentPath } from "../../http/oauth/metadata.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { PageContent } from "../shell/document.tsx";
import { usd } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import { type PageHandler, sendPage } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";

export const consentPage =
  ({ authorization }: SiteServices): PageHandler =>
  async ({ context, visitor, params: { id = "" } }) => {
    const request = await authorization.consentRequest(context, id);
    if (request === undefined) return expiredPage;
    return { title: "Connect an agent", body: <Consent id={id} request={request} visitor={visitor} /> };
  };

/** Answers an authorization request, and sends the browser back to the client. */
export const answerConsent =
  ({ authorization }: SiteServices) =>
  async ({ context, visitor, params: { id = "" }, fields }: VisitorForm): Promise<PageContent> => {
    const isAllowed = fields.get("answer") === "allow";
    const accountId = isAllowed ? visitor.identity.key.accountId : undefined;
    const location = await authorization.answer(context, id, accountId);
    if (location === undefined) return expiredPage;
    // A redirect would be part of the form's submission, which the policy allows to this service only.
    context.set("Refresh", `0; url=${location}`);
    return { title: isAllowed ? "Connected" : "Declined", body: <Return isAllowed={isAllowed} location={location} /> };
  };

/** The rights of agents by scope. */
const descriptions: Readonly<Record<ApiScope, string>> = {
  "inventory.read": "Search listings, count and measure the market, and look up vehicles",
  "dealers.read": "Look up dealers and their listings",
  "usage.read": "Read the usage of the account",
  "export.read": "Export listings",
  "sql.read": "Run SQL",
};

interface ConsentProps {
  readonly id: string;
  readonly request: ConsentRequest;
  readonly visitor: Visitor;
}

const Consent = ({ id, request, visitor }: ConsentProps): JSX.Element => {
  const { email, balanceMicros } = visitor.identity.cached.account;
  return (
    <section class="narrow">
      <h1>Connect an agent</h1>
      <p class="lead">
        {request.clientName === "" ? "An agent without a name" : <b>{request.clientName}</b>} asks to use this service
        on your account.
      </p>
      <dl class="kv left">
        <Fact name="Name">
          {request.clientName === "" ? "none" : request.clientName} (chosen by the agent, not verified)
        </Fact>
        <Fact name="Published by">{request.clientHost ?? "unknown: the agent registered itself"}</Fact>
        <Fact name="You return to">{placeOf(request.redirectUri)}</Fact>
        <Fact name="Who pays">
          {email}, balance {usd(balanceMicros)}
        </Fact>
      </dl>
      <h2>It may</h2>
      <Scopes scopes={request.scopes} />
      <p class="muted">
        Your spend cap and rate limits apply. You can disconnect it at any time, in the dashboard under “Connected
        agents”. Allow only what you have just started yourself.
      </p>
      <Form visitor={visitor} action={`${consentPath}/${id}`} class="inline">
        <button type="submit" name="answer" value="allow" class="btn prime">
          Allow
        </button>
        <button type="submit" name="answer" value="decline">
          Decline
        </button>
      </Form>
    </section>
  );
};

const Scopes = ({ scopes }: Pick<ConsentRequest, "scopes">): JSX.Element => (
  <ul class="stack">
    {scopes.map((scope) => (
      <li key={scope}>
        {descriptions[scope]}
        <br />
        <small class="muted">
          <code>{scope}</code>, {priceOf(scope)}
        </small>
      </li>
    ))}
  </ul>
);

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

/** Describes what requests with a scope cost. */
function priceOf(scope: ApiScope): string {
  const ids = [...operations.values()].filter((operation) => operation.scope === scope).map(({ id }) => id);
  const micros = ids.filter(isMetered).flatMap(pricesOf);
  if (micros.length === 0) return "free";
  const [min, max] = [Math.min(...micros), Math.max(...micros)];
  return min === max ? `${usd(min)} a request` : `${usd(min)} to ${usd(max)} a request`;
}

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Describes where a redirect leads. */
function placeOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (loopbackHosts.has(hostname)) return `a program on this computer (${host})`;
  return protocol === "https:" ? host : `an app on this computer (${protocol})`;
}

interface ReturnProps {
  readonly isAllowed: boolean;
  readonly location: string;
}

const Return = ({ isAllowed, location }: ReturnProps): JSX.Element => (
  <section class="narrow">
    <h1>{isAllowed ? "The agent is connected" : "The agent is not connected"}</h1>
    <p role="status">Your browser returns to it now.</p>
    <p>
      <a href={location}>Return to the agent</a>
    </p>
  </section>
);

const oauthErrorPage = (message: string, status: number): PageContent => ({
  title: "Not connected",
  status,
  body: (
    <section class="narrow">
      <h1>The agent cannot be connected</h1>
      <p role="alert">{message}</p>
      <p>Start again from the agent.</p>
    </section>
  ),
});

const expiredPage = oauthErrorPage("The request has expired, has been answered, or began in another browser.", 400);

/** Shows why a browser cannot be sent back to an agent. */
export const sendOAuthError: RenderOAuthError = (context, message) =>
  sendPage(context, oauthErrorPage(message, Math.max(context.status, 400)));

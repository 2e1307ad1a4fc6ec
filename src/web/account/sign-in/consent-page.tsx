/** The consent page of OAuth: the agent, its scopes with their prices, and the account that pays. */
import type { JSX } from "preact";
import type { ApiScope } from "../../../accounts/keys/keys.ts";
import { isMetered, pricesOf } from "../../../accounts/policy/prices.ts";
import { operations } from "../../../contract/document.ts";
import type { ConsentRequest, RenderOAuthError } from "../../../http/oauth/authorization-server.ts";
import { consentPath } from "../../../http/oauth/metadata.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import { Button } from "../../components/button.tsx";
import { Spec } from "../../components/sheet.tsx";
import type { PageContent } from "../../shell/document.tsx";
import { usd } from "../../shell/format.ts";
import { Form, type VisitorForm } from "../../shell/forms.tsx";
import { narrowPage, noticePage } from "../../shell/notice.tsx";
import { type PageHandler, sendPage } from "../../shell/pages.tsx";
import type { Visitor } from "../../shell/visitor.ts";
import { rights } from "../keys.tsx";

export const consentPage =
  ({ authorization }: SiteServices): PageHandler =>
  async ({ context, visitor, params: { id = "" } }) => {
    const request = await authorization.consentRequest(context, id);
    if (request === undefined) return expiredPage;
    return narrowPage({ title: "Connect an agent" }, <Consent id={id} request={request} visitor={visitor} />);
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
    return noticePage(
      isAllowed ? "The agent is connected" : "The agent is not connected",
      "Your browser returns to it now.",
      [location, "Return to the agent"],
    );
  };

interface ConsentProps {
  readonly id: string;
  readonly request: ConsentRequest;
  readonly visitor: Visitor;
}

const Consent = ({ id, request, visitor }: ConsentProps): JSX.Element => {
  const { email, balanceMicros } = visitor.identity.cached.account;
  const { clientName, clientHost, redirectUri, scopes } = request;
  return (
    <>
      <p class="lede">
        {clientName === "" ? "An agent without a name" : <b>{clientName}</b>} asks to use this service on your account.
      </p>
      <Spec
        facts={[
          ["Name", `${clientName === "" ? "none" : clientName} (chosen by the agent, not verified)`],
          ["Published by", clientHost ?? "unknown: the agent registered itself"],
          ["You return to", targetOf(redirectUri)],
          ["Who pays", `${email}, balance ${usd(balanceMicros)}`],
        ]}
      />
      <h2>It may</h2>
      <ul class="form">
        {scopes.map((scope) => (
          <li key={scope}>
            {rights[scope][1]}
            <br />
            <small class="mute">
              <code>{scope}</code>, {priceOf(scope)}
            </small>
          </li>
        ))}
      </ul>
      <p class="mute">
        Your monthly limit and rate limits apply. You can disconnect it at any time, among the keys of your account.
        Allow only what you have just started yourself.
      </p>
      <Form visitor={visitor} action={`${consentPath}/${id}`} class="line">
        <Button look="main" name="answer" value="allow">
          Allow
        </Button>
        <Button name="answer" value="decline">
          Decline
        </Button>
      </Form>
    </>
  );
};

/** Describes what requests with a scope cost. */
function priceOf(scope: ApiScope): string {
  const ids = [...operations.values()].filter((operation) => operation.scope === scope).map(({ id }) => id);
  const micros = ids.filter(isMetered).flatMap(pricesOf);
  if (micros.length === 0) return "free";
  const min = Math.min(...micros);
  const max = Math.max(...micros);
  return min === max ? `${usd(min)} a request` : `${usd(min)} to ${usd(max)} a request`;
}

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Describes where a redirect leads. */
function targetOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (loopbackHosts.has(hostname)) return `a program on this computer (${host})`;
  return protocol === "https:" ? host : `an app on this computer (${protocol})`;
}

const oauthErrorPage = (message: string, status: number): PageContent => ({
  status,
  ...noticePage("The agent cannot be connected", `${message.replace(/\.?$/, ".")} Start again from the agent.`),
});

const expiredPage = oauthErrorPage("The request has expired, has been answered, or began in another browser.", 400);

/** Shows why a browser cannot be sent back to an agent. */
export const sendOAuthError: RenderOAuthError = (context, message) =>
  sendPage(context, oauthErrorPage(message, Math.max(context.status, 400)));

/** Sign-in, sign-out and invitations. */
import type Router from "@koa/router";
import { clientNetwork } from "../../../base/client-network.ts";
import { UserError } from "../../../base/user-error.ts";
import type { Middleware, RequestState } from "../../../http/context.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import { publicForm, type SentForm, visitorForm } from "../../shell/forms.tsx";
import { sendPage } from "../../shell/pages.tsx";
import { demoAccountOf, endBrowserSession, startBrowserSession } from "../../shell/visitor.ts";
import { failedSignInPage, invalidLinkPage, invitationPage, signInLinkPage, signInPage } from "./sign-in-pages.tsx";

export function addSignInRoutes(router: Router<RequestState>, services: SiteServices): void {
  router.get("/sign-in", openSignIn(services));
  router.get("/invitation", openInvitation(services));
  for (const [path, handle] of [
    ["/sign-in", signIn],
    ["/sign-in/link", useSignInLink],
    ["/sign-in/demo", openDemo],
    ["/invitation", acceptInvitation],
  ] as const)
    router.post(
      path,
      publicForm(services, (form) => handle(services, form)),
    );
  router.post(
    "/sign-out",
    visitorForm(services, async ({ context }) => {
      await endBrowserSession(context, services);
      return { location: "/" };
    }),
  );
}

/**
 * Shows the form, or uses the sign-in link that the address names. A browser that another page led to it asks first, by a button: otherwise any site
 * could sign its visitors in to an account of another person. So do programs that open links, and browsers that do not say.
 */
const openSignIn =
  (services: SiteServices): Middleware =>
  async (context) => {
    const fields = new URLSearchParams(context.querystring);
    const secret = fields.get("token");
    if (secret === null) {
      const isDemoOffered = demoAccountOf(context, services) !== undefined;
      return sendPage(context, { ...signInPage("/", isDemoOffered), status: 200 });
    }
    if (context.method === "GET" && context.get("Sec-Fetch-Site") === "none") {
      const result = await useSignInLink(services, { context, fields });
      return "location" in result ? context.redirect(result.location) : sendPage(context, result);
    }
    const link = await services.signIn.findLink(secret, "sign_in");
    sendPage(context, link === undefined ? invalidLinkPage : signInLinkPage(link, secret));
  };

type TokenForm = Pick<SentForm, "context" | "fields">;

async function useSignInLink(services: SiteServices, { context, fields }: TokenForm) {
  const link = await services.signIn.useSignInLink(fields.get("token") ?? "");
  if (link === undefined || !(await startBrowserSession(context, services, link))) return invalidLinkPage;
  return { location: "/" };
}

async function openDemo(services: SiteServices, { context, fields }: SentForm) {
  const accountId = demoAccountOf(context, services);
  const target = localTarget(fields.get("next"));
  if (accountId === undefined) return signInPage(target, false);
  await startBrowserSession(context, services, { accountId });
  return { location: target };
}

/** An unknown name and a wrong password have the same answer. */
async function signIn(services: SiteServices, { context, fields }: SentForm) {
  const name = fields.get("name") ?? "";
  const password = fields.get("password") ?? "";
  const target = localTarget(fields.get("next"));
  const result = await services.signIn.attempt(name, password, clientNetwork(context.ip));
  const wrong = "No account has this name and password: expected the ones of an invitation.";
  if (result === "wrong") return failedSignInPage(target, name, wrong);
  if ("retryAfterSeconds" in result) {
    const { retryAfterSeconds } = result;
    context.set("Retry-After", String(retryAfterSeconds));
    const message = `Too many failed attempts. Try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`;
    return { ...failedSignInPage(target, name, message), status: 429 };
  }
  return (await startBrowserSession(context, services, result))
    ? { location: target }
    : failedSignInPage(target, name, wrong);
}

const openInvitation =
  (services: SiteServices): Middleware =>
  async (context) => {
    const secret = new URLSearchParams(context.querystring).get("token") ?? "";
    const link = await services.signIn.findLink(secret, "invitation");
    sendPage(context, link === undefined ? invalidLinkPage : invitationPage(link, secret));
  };

async function acceptInvitation(services: SiteServices, { context, fields }: SentForm) {
  const secret = fields.get("token") ?? "";
  const link = await services.signIn.findLink(secret, "invitation");
  if (link === undefined) return invalidLinkPage;
  const password = fields.get("password") ?? "";
  if (password !== fields.get("repeated"))
    return invitationPage(link, secret, "The two passwords differ: expected the same twice.");
  try {
    const accepted = await services.signIn.acceptInvitation(secret, password);
    const isSignedIn = accepted !== undefined && (await startBrowserSession(context, services, accepted));
    return isSignedIn ? { location: "/account" } : invalidLinkPage;
  } catch (thrown) {
    if (thrown instanceof UserError) return invitationPage(link, secret, thrown.message);
    throw thrown;
  }
}

/** Returns the page of this service that follows a sign-in; `/` for an address of any other host. */
function localTarget(next: string | null): string {
  const base = "http://service.invalid";
  if (next === null || !URL.canParse(next, base)) return "/";
  const { origin, pathname, search } = new URL(next, base);
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}` : "/";
}

/** Who is signed in: the session cookie of a browser, which signing in sets and signing out removes. A request counts as a visit of its account. */
import type { Identity } from "../../accounts/accounts.ts";
import type { VisitKind } from "../../accounts/policy/visit-limits.ts";
import type { SessionAccount } from "../../accounts/sign-in/sign-in-tables.ts";
import { newSecret } from "../../base/random-ids.ts";
import { Refusal } from "../../contract/errors.ts";
import type { RequestContext } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";

export interface Visitor {
  /** The account, and the key that its pages are charged to. */
  readonly identity: Identity;
  /** The token that forms of the session carry. */
  readonly csrfToken: string;
  /** Whether the service has no accounts to sign in to, and charges nothing. */
  readonly isOpen: boolean;
  /** Whether pages of the explorer are free. */
  readonly isFree: boolean;
}

/** The token of forms of open access, which has no sessions. */
const openToken = newSecret();

/** Returns the name of the session cookie. Browsers accept the prefix over HTTPS only, and then from this host only. */
const sessionCookieName = ({ secure }: RequestContext): string =>
  secure ? "__Host-carquet-session" : "carquet-session";

/** Returns the value of the session cookie; undefined without one. */
const sessionCookie = (context: RequestContext): string | undefined => context.cookies.get(sessionCookieName(context));

/**
 * Returns the visitor of a request, whose visit lasts until the end of the response; undefined if its browser is not signed in. Refuses more
 * visits than an account may make.
 */
export async function visitorOf(
  context: RequestContext,
  { accounts, sessions, visits, isExplorerFree }: SiteServices,
  kind: VisitKind = "page",
): Promise<Visitor | undefined> {
  if (accounts.isOpen) {
    const identity = await accounts.localIdentity();
    context.state.identity = identity;
    return { identity, csrfToken: openToken, isOpen: true, isFree: true };
  }
  const cookie = sessionCookie(context);
  const session = cookie === undefined ? undefined : await sessions.find(cookie);
  if (session === undefined) return undefined;
  try {
    const identity = await accounts.identityOfKey(session.keyId);
    context.state.identity = identity;
    const leave = visits.enter(identity.key.accountId, kind);
    if (context.res.closed) leave();
    else context.res.once("close", leave);
    return { identity, csrfToken: session.csrfToken, isOpen: false, isFree: isExplorerFree };
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "invalid_api_key") return undefined;
    throw thrown;
  }
}

/** Headers that proxies add. */
const proxyHeaders = ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"];

/** Returns the account of the demo if a browser on this machine asks, by a name of this machine and without a proxy; else undefined. */
export function demoAccountOf(
  context: RequestContext,
  { demoAccountId }: Pick<SiteServices, "demoAccountId">,
): string | undefined {
  const isLocal = /^(::ffff:)?127\.|^::1$/.test(context.req.socket.remoteAddress ?? "");
  const isNamed = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(context.host);
  return isLocal && isNamed && proxyHeaders.every((name) => context.get(name) === "") ? demoAccountId : undefined;
}

/** How long a browser keeps the cookie. */
const cookieMaxAgeMs = 30 * 86_400_000;

/** Starts a session of an account in a browser, and ends the previous one. Returns false, and does neither, if the password has changed since the account was verified. */
export async function startBrowserSession(
  context: RequestContext,
  { sessions }: Pick<SiteServices, "sessions">,
  account: SessionAccount,
): Promise<boolean> {
  const cookie = await sessions.create(account);
  if (cookie === undefined) return false;
  const earlier = sessionCookie(context);
  if (earlier !== undefined) await sessions.end(earlier);
  setCookie(context, sessionCookieName(context), cookie, cookieMaxAgeMs);
  return true;
}

/** Ends the session of a browser. */
export async function endBrowserSession(
  context: RequestContext,
  { sessions }: Pick<SiteServices, "sessions">,
): Promise<void> {
  const cookie = sessionCookie(context);
  if (cookie !== undefined) await sessions.end(cookie);
  setCookie(context, sessionCookieName(context), "", 0);
}

/** Sets a cookie that scripts do not see and other sites do not send; an age of 0 removes it. */
export const setCookie = (context: RequestContext, name: string, value: string, maxAge: number): void =>
  void context.cookies.set(name, value, {
    httpOnly: true,
    sameSite: "lax",
    path: "/",
    secure: context.secure,
    overwrite: true,
    ...(maxAge === 0 ? { expires: new Date(0) } : { maxAge }),
  });

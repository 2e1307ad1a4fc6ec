/** Sets the session cookie when a browser signs in, and removes it when it signs out. */
import type { RequestContext } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { sessionCookie, sessionCookieName } from "../shell/visitor.ts";

type SessionServices = Pick<SiteServices, "sessions">;

const maxAgeMs = 30 * 86_400_000;

/** Starts a session of an account in a browser, and ends the one that it had. */
export async function startBrowserSession(
  context: RequestContext,
  { sessions }: SessionServices,
  accountId: string,
): Promise<void> {
  const earlier = sessionCookie(context);
  if (earlier !== undefined) await sessions.end(earlier);
  setCookie(context, await sessions.create(accountId), maxAgeMs);
}

/** Ends the session of a browser. */
export async function endBrowserSession(context: RequestContext, { sessions }: SessionServices): Promise<void> {
  const cookie = sessionCookie(context);
  if (cookie !== undefined) await sessions.end(cookie);
  setCookie(context, "", 0);
}

const setCookie = (context: RequestContext, value: string, maxAge: number): void =>
  void context.cookies.set(sessionCookieName(context), value, {
    ...{ httpOnly: true, sameSite: "lax", path: "/", secure: context.secure, overwrite: true },
    ...(maxAge === 0 ? { expires: new Date(0) } : { maxAge }),
  });

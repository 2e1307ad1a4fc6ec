/** Handlers of pages: refuse requests that no browser shows, find the visitor, render what a page returns, and show refusals as pages. */
import { Readable } from "node:stream";
import type { VisitKind } from "../../accounts/policy/visit-limits.ts";
import { errors, type Refusal, refuse } from "../../contract/errors.ts";
import { Abandoned } from "../../db/job.ts";
import type { Middleware, RequestContext } from "../../http/context.ts";
import { loggedRefusalOf } from "../../http/middleware/handle-errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { Button } from "../components/button.tsx";
import { unpaidVerdict } from "../sentences/account.ts";
import { type PageContent, renderDocument } from "./document.tsx";
import { isPaid } from "./doors.ts";
import { notice, noticePage } from "./notice.tsx";
import { readAddress } from "./page-parameters.ts";
import { PageRequests } from "./page-requests.ts";
import { demoAccountOf, type Visitor, visitorOf } from "./visitor.ts";

/** Inline code and other hosts are forbidden, for scripts, styles, images and connections alike. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A request for a page by a signed-in account. */
export interface PageVisit {
  readonly context: RequestContext;
  readonly visitor: Visitor;
  readonly params: TextParameters;
  readonly query: URLSearchParams;
  readonly requests: PageRequests;
}

/** An address of this service that the browser is sent to instead of a page. */
export interface Redirect {
  readonly location: string;
}

export type PageHandler = (request: PageVisit) => Promise<PageContent | Redirect>;

/** A file that a browser saves. */
export interface SentFile {
  readonly name: string;
  /** The media type, if it is not that of CSV. */
  readonly type?: string;
  readonly file: Buffer | AsyncIterable<string | Buffer>;
}

/** Returns the page for an anonymous visitor of a path with its query, who may open the demo. */
type AnonymousPage = (target: string, isDemoOffered: boolean) => PageContent;

/** Returns a middleware that serves a page or a file to signed-in accounts, and `anonymousPage` to others. */
export function signedInPage(
  services: SiteServices,
  anonymousPage: AnonymousPage,
  handle: (request: PageVisit) => Promise<PageContent | Redirect | SentFile>,
  kind: VisitKind = "page",
): Middleware {
  return async (context) => {
    const visitor = await visitorOf(context, services, kind);
    const isDemoOffered = demoAccountOf(context, services) !== undefined;
    if (visitor === undefined)
      return sendPage(context, anonymousPage(`${context.path}${context.search}`, isDemoOffered));
    const requests = new PageRequests(services.callOperation, context, visitor);
    const params: TextParameters = context.params ?? {};
    try {
      requirePlainText(Object.entries(params));
      const { query, faults } = addressOf(context);
      if (kind === "download") refuseFirst(faults);
      const content = await handle({ context, visitor, params, query, requests });
      if (!("body" in content)) {
        refuseFirst(faults);
        return sendResult(context, content);
      }
      const { micros, charged, missing, hasInvalid, unpaid, main } = requests;
      // A page without any content says whom to ask.
      if (unpaid !== undefined && main === undefined) throw unpaid;
      const page = {
        micros,
        requests: charged,
        missing,
        status: hasInvalid ? 400 : 200,
        ...ageOf(services),
        ...content,
      };
      sendPage(context, page, visitor);
    } catch (thrown) {
      if (thrown instanceof Abandoned) throw thrown;
      sendPage(context, { micros: requests.micros, ...errorPage(context, thrown, visitor) }, visitor);
    }
  };
}

/** Sends what a page or a form returns. */
export function sendResult(context: RequestContext, result: PageContent | Redirect | SentFile, visitor?: Visitor) {
  if ("location" in result) return context.redirect(result.location);
  if ("body" in result) return sendPage(context, result, visitor);
  const { name, type = "text/csv; charset=utf-8", file } = result;
  context.set("Content-Type", type);
  context.set("Content-Disposition", `attachment; filename="${name}"`);
  context.set("Cache-Control", "private, no-store");
  // Koa's pipeline adds several listeners to those of the middleware; Node.js warns of more than ten.
  context.res.setMaxListeners(20);
  const isSent = Buffer.isBuffer(file) || file instanceof Readable;
  context.body = isSent ? file : Readable.from(file, { objectMode: false });
}

/** Returns what the page of a request takes from its address. Refuses control characters. */
export function addressOf({ _matchedRoute: route, querystring }: RequestContext) {
  requirePlainText([...new URLSearchParams(querystring)]);
  return readAddress(route, querystring);
}

/** Refuses the first fault of an address: a file and a redirect cannot say it beside what they are. */
export function refuseFirst([fault]: readonly Refusal[]): void {
  if (fault !== undefined) throw fault;
}

/** Asks before a page is shown, and charged, to which a link or a script of another site leads. */
export const confirmed =
  (handle: PageHandler): PageHandler =>
  async (visit) => {
    const { context, visitor } = visit;
    if (visitor.isFree || !["cross-site", "same-site"].includes(context.get("Sec-Fetch-Site"))) return handle(visit);
    const message = "Another site led here. Showing the page requests data, which is charged to your account.";
    return noticePage("Open this page?", message, [`${context.path}${context.search}`, "Show it"]);
  };

/** Returns the version in service, its day, and its age if it is old. */
function ageOf({ current, freshness: { report }, accounts }: SiteServices) {
  const { day, status } = report;
  const isOld = day !== null && status !== "fresh";
  return {
    day: day ?? undefined,
    version: current.version,
    oldMs: isOld ? accounts.administration.nowMs - Date.parse(day) : undefined,
  };
}

/** The fields whose texts have several lines. */
const longFields: readonly string[] = ["statement", "body"];

/** Refuses values with control characters, except tabs, which are pasted with text, and ends of lines in long ones. Their text can be a secret: the message has none of it. */
export function requirePlainText(parameters: readonly (readonly [name: string, value: string | undefined])[]): void {
  for (const [parameter, value = ""] of parameters) {
    if (!/[^\P{Cc}\t]/u.test(longFields.includes(parameter) ? value.replaceAll(/[\r\n]/g, "") : value)) continue;
    const details = { parameter, value: `(${value.length} characters)`, hint: "" };
    throw refuse("invalid_parameter_value", { ...details, allowed: "text without control characters" });
  }
}

export function sendPage(context: RequestContext, content: PageContent, visitor?: Visitor): void {
  const { imageHosts, status = 200 } = content;
  const read = readAddress(context._matchedRoute, context.querystring).faults.map(({ message }) => message);
  const faults = [...new Set([...read, ...(content.faults ?? [])])];
  context.status = status === 200 && faults.length > 0 ? 400 : status;
  const policy =
    imageHosts === undefined
      ? contentSecurityPolicy
      : contentSecurityPolicy.replace("img-src", `img-src ${imageHosts}`);
  context.set("Content-Security-Policy", policy);
  // With `no-referrer`, browsers send the origin of forms as null.
  context.set("Referrer-Policy", "same-origin");
  // A browser keeps pages that were paid, so that going back is free, and the public docs. Other pages may show secrets, such as the demo's key.
  const isKept = isPaid(content.door) || (content.door === "build" && visitor === undefined);
  context.set("Cache-Control", isKept ? "private, no-cache" : "no-store");
  context.set("Content-Type", "text/html; charset=utf-8");
  context.body = renderDocument({ ...content, faults }, visitor);
}

/** Returns the page that shows a refusal, or any other exception, which it logs. */
export function errorPage(context: RequestContext, thrown: unknown, visitor?: Visitor): PageContent {
  const refusal = loggedRefusalOf(thrown, context.state);
  context.state.errorCode = refusal.code;
  if (refusal.retryAfterSeconds !== undefined) context.set("Retry-After", String(refusal.retryAfterSeconds));
  const [status] = errors[refusal.code];
  return { status, ...refusalPage(refusal, status, visitor) };
}

function refusalPage(refusal: Refusal, status: number, visitor: Visitor | undefined): PageContent {
  const { code, message } = refusal;
  if (code === "not_found") return missingPage(visitor);
  if (code === "billing_state_blocked" && visitor !== undefined) return noCreditPage(visitor, message);
  if (code === "monthly_spend_cap_exceeded")
    return noticePage(titles[status] ?? "", message, ["/account#cap", "Raise the cap"], ["/docs", "Read the docs"]);
  return noticePage(titles[status] ?? "This page cannot be shown", message, ["/", "Home"]);
}

const titles: Readonly<Record<number, string>> = {
  402: "Your month's limit is reached",
  429: "Too many requests",
  503: "Unavailable",
};

/** The page of an address that no page has: visitors can search from it. */
const missingPage = (visitor: Visitor | undefined): PageContent => ({
  title: "Not found",
  ...notice({
    sentence: ["This road ends here."],
    car: "offroad",
    context: ["No page has this address. A car that was sold keeps its page; a mistyped VIN does not have one."],
    children: visitor && (
      <form class="line search" action="/find">
        <input
          class="in"
          type="search"
          name="q"
          maxLength={200}
          required
          aria-label="Search"
          placeholder="A car, a VIN, a dealer, a question"
        />
        <Button look="main">Search</Button>
      </form>
    ),
    more: (
      <p>
        <a href="/">Home</a> · <a href="/shop">Shop</a> · <a href="/docs">Build</a>
      </p>
    ),
  }),
});

/** The page of an account that cannot pay: what was spent, whom to ask, and what stays. */
const noCreditPage = ({ identity }: Visitor, message: string): PageContent => ({
  title: "No credit",
  ...notice({
    ...unpaidVerdict(identity.cached.account, message),
    ways: [
      ["/account", "See what it was spent on"],
      ["/docs", "Read the docs"],
    ],
  }),
});

/** Shows errors outside the API as pages to browsers: unknown paths, and methods that a path does not have. */
export const showErrors =
  (services: SiteServices): Middleware =>
  async (context, next) => {
    try {
      await next();
    } catch (thrown) {
      if (thrown instanceof Abandoned || !isForBrowser(context)) throw thrown;
      const visitor = await visitorOf(context, services).catch(() => undefined);
      sendPage(context, errorPage(context, thrown, visitor), visitor);
    }
  };

/** The paths whose clients are programs. */
const programPaths = /^\/(v1|mcp|oauth|\.well-known)(\/|$)/;

const isForBrowser = (context: RequestContext): boolean =>
  !programPaths.test(context.path) && context.accepts("json", "html") === "html";

/** Returns the origin that a request was sent to; empty if its `Host` is invalid. */
export function serviceOrigin({ protocol, host }: RequestContext): string {
  const url = `${protocol}://${host}`;
  return URL.canParse(url) ? new URL(url).origin : "";
}

/** Returns the origin of the addresses that pages show: that of the public URL, or that of the request. */
export const publicOrigin = (context: RequestContext, { publicUrl }: Pick<SiteServices, "publicUrl">): string =>
  publicUrl ?? serviceOrigin(context);

/**
 * Refuses requests for pages that a browser would not show to its visitor, before they are charged or use a one-time link: prefetches,
 * and what pages of other sites and ports embed.
 */
export const refuseHiddenRequests: Middleware = async (context, next) => {
  const { method } = context;
  if (!["GET", "HEAD"].includes(method) || isShown(context)) return next();
  context.status = 403;
  context.set("Cache-Control", "no-store");
  context.body = "Refused: pages are neither prefetched nor embedded by other sites. Open this address in a window.\n";
};

/** Returns true unless the browser says, by Fetch Metadata, that it would not show the page in a window. Older browsers do not say. */
function isShown(context: RequestContext): boolean {
  if (context.get("Sec-Purpose").startsWith("prefetch")) return false;
  if (["", "same-origin", "none"].includes(context.get("Sec-Fetch-Site"))) return true;
  return context.get("Sec-Fetch-Mode") === "navigate" && context.get("Sec-Fetch-Dest") === "document";
}

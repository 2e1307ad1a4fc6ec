/**
 * Forms: a POST of a page, sent by the same page. Refuses forms that another site sends, by the headers of the browser, and by the token
 * that the forms of a session carry.
 */
import type { ComponentChildren, JSX } from "preact";
import { matchesCsrfToken } from "../../accounts/sign-in/sign-in.ts";
import { UserError } from "../../base/user-error.ts";
import { Refusal } from "../../contract/errors.ts";
import { type Middleware, type RequestContext, readBytes } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { Button } from "../components/button.tsx";
import type { PageContent } from "./document.tsx";
import { notice, noticePage } from "./notice.tsx";
import {
  errorPage,
  type Redirect,
  requirePlainText,
  type SentFile,
  sendPage,
  sendResult,
  serviceOrigin,
} from "./pages.tsx";
import { type Visitor, visitorOf } from "./visitor.ts";

/** A longer form is refused, unless it may have a file. */
export const formBytesMax = 65_536;
export const uploadBytesMax = 2 ** 24;

/** A form that a browser has sent. */
export interface SentForm {
  readonly context: RequestContext;
  readonly params: TextParameters;
  readonly fields: URLSearchParams;
  /** The file of a form that may have one. */
  readonly file?: File | undefined;
}

/** A form of a signed-in account. */
export interface VisitorForm extends SentForm {
  readonly visitor: Visitor;
}

type FormResult = Promise<PageContent | Redirect | SentFile>;

/** Returns a middleware that handles a form which needs no session. */
export const publicForm =
  (services: SiteServices, handle: (form: SentForm) => FormResult): Middleware =>
  (context) =>
    answerForm(context, undefined, async () => {
      const form = await readForm(context, services, formBytesMax);
      return "body" in form ? form : handle(form);
    });

/**
 * Returns a middleware that handles a form of a signed-in account. A browser that is not signed in is sent to the sign-in page. `bytesMaxOf` allows some
 * visitors longer forms, which can have a file.
 */
export const visitorForm =
  (
    services: SiteServices,
    handle: (form: VisitorForm) => FormResult,
    bytesMaxOf: (visitor: Visitor | undefined) => number = () => formBytesMax,
  ): Middleware =>
  async (context) => {
    // Before the body is received: its limit depends on who sends it.
    const visitor = await visitorOf(context, services);
    await answerForm(context, visitor, async () => {
      const form = await readForm(context, services, bytesMaxOf(visitor));
      if ("body" in form) return form;
      if (visitor === undefined) return { location: "/sign-in" };
      return matchesCsrfToken(visitor, form.fields.get(csrfField) ?? "") ? handle({ ...form, visitor }) : forgedPage;
    });
  };

/** Returns a form, or the page that refuses it. Refuses control characters in its path or fields. */
async function readForm(
  context: RequestContext,
  { publicUrl }: SiteServices,
  bytesMax: number,
): Promise<SentForm | PageContent> {
  if (!isSameOrigin(context, publicUrl)) return forgedPage;
  const types = ["application/x-www-form-urlencoded", ...(bytesMax === formBytesMax ? [] : ["multipart/form-data"])];
  if (context.is(types) === false) return malformedPage;
  const body = await readBytes(context, bytesMax);
  if (body === undefined) return tooLongPage(bytesMax);
  const headers = { "Content-Type": context.get("Content-Type") };
  const data = await new Response(new Uint8Array(body), { headers }).formData().catch(() => undefined);
  if (data === undefined) return malformedPage;
  const fields = new URLSearchParams();
  for (const [name, value] of data) if (typeof value === "string") fields.append(name, value);
  const params: TextParameters = context.params ?? {};
  requirePlainText([...Object.entries(params), ...fields]);
  return { context, params, fields, file: [...data.values()].find((value) => typeof value !== "string") };
}

/** Answers a form with what `work` returns, or with the page of what it refuses. */
async function answerForm(
  context: RequestContext,
  visitor: Visitor | undefined,
  work: () => FormResult,
): Promise<void> {
  try {
    const result = await work();
    if ("location" in result) context.status = 303;
    sendResult(context, result, visitor);
  } catch (thrown) {
    if (thrown instanceof UserError) sendPage(context, refusedPage(thrown.message), visitor);
    else if (thrown instanceof Refusal) sendPage(context, errorPage(context, thrown, visitor), visitor);
    else throw thrown;
  }
  // A form can show a secret.
  context.set("Cache-Control", "no-store");
}

/**
 * Returns true if, according to the browser, a page of this service sends the request. Browsers without Fetch Metadata send an origin: that of the
 * public URL, which a proxy may serve over HTTPS, or that of the request.
 */
function isSameOrigin(context: RequestContext, publicUrl: string | undefined): boolean {
  const site = context.get("Sec-Fetch-Site");
  const origin = context.get("Origin");
  if (site !== "") return site === "same-origin";
  if (origin === "") return false;
  return origin === serviceOrigin(context) || (publicUrl !== undefined && origin === new URL(publicUrl).origin);
}

const csrfField = "csrf_token";

interface FormProps {
  /** Whose session the form belongs to; undefined for a form that needs none. */
  readonly visitor?: Visitor | undefined;
  readonly action: string;
  readonly id?: string;
  readonly class?: string;
  /** Whether it has a file. */
  readonly hasFile?: boolean;
  /** Fields that are sent with it, unseen. */
  readonly hidden?: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
}

export const Form = ({ visitor, hidden = {}, hasFile, children, ...form }: FormProps): JSX.Element => (
  <form {...form} method="post" encType={hasFile ? "multipart/form-data" : undefined}>
    {visitor === undefined ? null : <input type="hidden" name={csrfField} value={visitor.csrfToken} />}
    {Object.entries(hidden).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
    {children}
  </form>
);

interface EndingProps extends Omit<FormProps, "id" | "class"> {
  /** The words that unfold it. */
  readonly title: string;
  /** The words of its button; by default, those that unfold it. */
  readonly button?: string;
}

/** Asks before something ends: unfolds what will end, and the button. */
export const Ending = ({ title, button = title, children, ...form }: EndingProps): JSX.Element => (
  <details class="ending">
    <summary>{title}</summary>
    <p>{children}</p>
    <Form {...form}>
      <Button look="danger">{button}</Button>
    </Form>
  </details>
);

/** Returns the page that refuses a form as a whole. */
const unreadPage = (status: number, message: string) => ({
  status,
  ...noticePage("Form refused", message, ["/account", "Account"]),
});

const forgedPage = unreadPage(
  403,
  "This form was not sent by a page of this service, or its session has ended. Open the page again.",
);
const malformedPage = unreadPage(400, "Invalid type of the form: expected application/x-www-form-urlencoded.");
const tooLongPage = (bytesMax: number) => unreadPage(413, `The form is too long: expected at most ${bytesMax} bytes.`);

const refusedPage = (message: string): PageContent => ({
  status: 422,
  title: "Not changed",
  ...notice({
    sentence: ["Nothing was changed."],
    context: ["Go back to correct it."],
    children: <p role="alert">{message}</p>,
  }),
});

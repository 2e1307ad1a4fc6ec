/** Forms of the web application, sent as a browser sends them. */
import assert from "node:assert/strict";
import { applyChange } from "../../../src/accounts/administration/changes.ts";
import type { LinkKind } from "../../../src/accounts/sign-in/sign-in-tables.ts";
import { inAccountsFile } from "../accounts.ts";

export interface FormOptions {
  /** The session cookie, as `name=value`. */
  readonly cookie?: string | undefined;
  /** Headers that replace those of a form of the same page. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a form to a service; does not follow redirects. */
export function sendForm(
  url: string,
  path: string,
  fields: Readonly<Record<string, string>>,
  { cookie, headers = { Origin: url } }: FormOptions = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { ...headers, ...(cookie === undefined ? {} : { Cookie: cookie }) },
    body: new URLSearchParams(fields),
  });
}

/** Returns the cookie that a response sets, as `name=value`, and its attributes. */
export function cookieOf(response: Response): { readonly cookie: string; readonly attributes: readonly string[] } {
  const [cookie = "", ...attributes] = (response.headers.getSetCookie()[0] ?? "").split("; ");
  return { cookie, attributes };
}

/** Returns the token that the forms of a page carry. */
export function csrfTokenIn(page: string): string {
  const [, token] = /name="csrf_token" value="([\w-]+)"/.exec(page) ?? [];
  assert.ok(token, "the page has a form");
  return token;
}

/** Creates a one-time link of an account. Returns its secret. */
export const createLinkSecret = (path: string, accountId: string, kind: LinkKind): Promise<string> =>
  inAccountsFile(path, (database) =>
    applyChange(database, "accounts invite", { accountId, kind }, { actor: "test", atMs: Date.now() }),
  );

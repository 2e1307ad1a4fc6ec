/** The page for anonymous visitors: a description of the service, and the form to sign in. */
import type { JSX } from "preact";
import type { OneTimeLink } from "../../../accounts/sign-in/sign-in-tables.ts";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Note } from "../../components/sheet.tsx";
import type { PageContent } from "../../shell/document.tsx";
import { Form } from "../../shell/forms.tsx";
import { narrowPage } from "../../shell/notice.tsx";

/** Returns the sign-in page; `target` is the page that follows. */
export const signInPage = (target: string, isDemoOffered: boolean): PageContent =>
  formPage(target === "/" ? 200 : 401, { target, isDemoOffered });

/** Returns the page that answers a failed attempt. It depends on the attempt only. */
export const failedSignInPage = (target: string, name: string, message: string): PageContent =>
  formPage(401, { target, name, message });

/** Returns the page of a sign-in link, whose button uses the link. */
export const signInLinkPage = ({ email, accountId }: OneTimeLink, secret: string): PageContent =>
  narrowPage(
    { title: "Sign in" },
    <>
      <p>
        As {email}, account <code>{accountId}</code>. The link works once.
      </p>
      <Form class="form" action="/sign-in/link" hidden={{ token: secret }}>
        <Button look="main">Sign in</Button>
      </Form>
    </>,
  );

interface SignInProps {
  readonly target: string;
  readonly name?: string | undefined;
  readonly message?: string;
  readonly isDemoOffered?: boolean;
}

const formPage = (status: number, { isDemoOffered = false, message, target, name }: SignInProps): PageContent => {
  const form = <PasswordForm target={target} name={name} />;
  return narrowPage(
    { title: "Sign in", heading: "Know what a car is worth.", status },
    <>
      <p class="lede">
        Every car for sale, judged against similar ones, and what became of it, day by day, on your own server.
      </p>
      {message === undefined ? null : <Note isAlert>{message}</Note>}
      {isDemoOffered ? (
        <>
          <Form class="form" action="/sign-in/demo" hidden={{ next: target }}>
            <Button look="main">Open the demo</Button>
          </Form>
          <p class="mute">A generated market on this machine. No password is needed.</p>
          <details>
            <summary>Sign in to another account</summary>
            {form}
          </details>
        </>
      ) : (
        form
      )}
      <p>
        <a href="/docs">API reference</a> · <a href="/v1/openapi.json">OpenAPI document</a>
      </p>
    </>,
  );
};

const PasswordForm = ({ target, name }: Pick<SignInProps, "target" | "name">): JSX.Element => (
  <>
    <Form class="form" action="/sign-in" hidden={{ next: target }}>
      <Field
        label="Email or account id"
        name="name"
        value={name}
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        required
      />
      <Field label="Password" type="password" name="password" autocomplete="current-password" required />
      <Button look="main">Sign in</Button>
    </Form>
    <p class="mute">No password yet, or forgotten? The operator of this service sends you a link.</p>
  </>
);

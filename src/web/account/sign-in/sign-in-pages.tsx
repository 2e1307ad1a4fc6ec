/** The pages of visitors without a session: what the service is, with the form to sign in, and the pages of one-time links. */
import type { JSX } from "preact";
import { passwordLengths, passwordRule } from "../../../accounts/sign-in/passwords.ts";
import type { OneTimeLink } from "../../../accounts/sign-in/sign-in-tables.ts";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Note } from "../../components/sheet.tsx";
import type { PageContent } from "../../shell/document.tsx";
import { Form } from "../../shell/forms.tsx";
import { narrowPage, noticePage } from "../../shell/notice.tsx";

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

/** Returns the form that sets a password; `message` says why an earlier attempt failed. */
export const invitationPage = ({ email, accountId }: OneTimeLink, secret: string, message?: string): PageContent =>
  narrowPage(
    { title: "Set a password", status: message === undefined ? 200 : 422 },
    <>
      <p>
        For {email}, account <code>{accountId}</code>. You sign in with either of the two.
      </p>
      {message === undefined ? null : <Note isAlert>{message}</Note>}
      <Form class="form" action="/invitation" hidden={{ token: secret }}>
        <NewPasswordFields email={email} />
        <Button look="main">Set the password and sign in</Button>
      </Form>
    </>,
  );

const newPassword = {
  type: "password",
  autocomplete: "new-password",
  minLength: passwordLengths.min,
  required: true,
} as const;

/** The new password, twice, for the password manager that knows an account by its address. */
export const NewPasswordFields = ({ email }: { readonly email: string }): JSX.Element => (
  <>
    <input type="text" name="username" value={email} autocomplete="username" hidden />
    <Field label={`New password, ${passwordRule}`} name="password" {...newPassword} />
    <Field label="The same again" name="repeated" {...newPassword} />
  </>
);

/** The page of a link that has been used, has expired or was replaced. */
export const invalidLinkPage: PageContent = {
  status: 404,
  ...noticePage(
    "This link does not work any more",
    "It has been used, has expired, or a newer one has replaced it. Ask the operator of this service for another, who creates it with carquet accounts invite.",
    ["/sign-in", "Sign in"],
  ),
};

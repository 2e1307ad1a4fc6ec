/** The page of an invitation: sets the password of an account. */
import type { JSX } from "preact";
import { passwordLengths, passwordRule } from "../../../accounts/sign-in/passwords.ts";
import type { OneTimeLink } from "../../../accounts/sign-in/sign-in-tables.ts";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Note } from "../../components/sheet.tsx";
import type { PageContent } from "../../shell/document.tsx";
import { Form } from "../../shell/forms.tsx";
import { narrowPage, noticePage } from "../../shell/notice.tsx";

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
    "It has been used, has expired, or a newer one has replaced it. Ask the operator of this service for another.",
    ["/sign-in", "Sign in"],
  ),
};

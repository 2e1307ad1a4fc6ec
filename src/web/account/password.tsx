/** The names that an account signs in with, and its password. */
import type { JSX } from "preact";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import { startBrowserSession, type Visitor } from "../shell/visitor.ts";
import { NewPasswordFields } from "./sign-in/sign-in-pages.tsx";

export const PasswordSheet = ({ visitor }: { readonly visitor: Visitor }): JSX.Element => {
  const { accountId, email } = visitor.identity.cached.account;
  return (
    <details class="how">
      <summary>Change the password</summary>
      <Form visitor={visitor} action="/account/password" class="form" id="password">
        <p class="of">
          You sign in with {email} or <code>{accountId}</code>. The address works only if no other account has it. A new
          password ends the sessions of all other browsers, and invitations that have not been used.
        </p>
        <Field
          label="Current password"
          type="password"
          name="current"
          autocomplete="current-password"
          required
          hint="Never set, or forgotten? The operator of this service sends you a link."
        />
        <NewPasswordFields email={email} />
        <span class="line">
          <Button>Change the password</Button>
        </span>
      </Form>
    </details>
  );
};

export const changeVisitorPassword =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    const password = fields.get("password") ?? "";
    if (password !== fields.get("repeated"))
      throw new UserError("The two new passwords differ: expected the same twice.");
    await requireCurrent(services, accountId, fields.get("current") ?? "");
    const changed = await services.signIn.changePassword(accountId, password);
    if (!(await startBrowserSession(context, services, changed))) return { location: "/sign-in" };
    return { location: "/account?changed=password" };
  };

async function requireCurrent({ signIn }: SiteServices, accountId: string, current: string): Promise<void> {
  const result = await signIn.confirm(accountId, current);
  if (result === "wrong") throw new UserError("Wrong current password: expected the password that you sign in with.");
  if ("retryAfterSeconds" in result)
    throw new UserError(`Too many failed attempts: try again in ${Math.ceil(result.retryAfterSeconds / 60)} minutes.`);
}

/** The sign-in of an account in the dashboard: its names, and a new password. */
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { startBrowserSession } from "../shell/visitor.ts";
import { dashboardPage, Notice } from "./dashboard-page.tsx";
import { NewPasswordFields } from "./invitation-page.tsx";

const path = "/dashboard/settings";

export const settingsPage: PageHandler = async ({ visitor, query }) => {
  const { accountId, email } = visitor.identity.cached.account;
  return dashboardPage(
    path,
    "Sign-in",
    <>
      <Notice
        text={
          query.get("changed") === "password"
            ? "The password is changed. All other browsers are signed out."
            : undefined
        }
      />
      <p>
        You sign in with {email} or <code>{accountId}</code>. The address works only if no other account has it.
      </p>
      <section class="block" aria-labelledby="new-password">
        <h2 id="new-password">Change the password</h2>
        <p class="muted">Ends the sessions of all other browsers, and invitations that have not been used.</p>
        <Form visitor={visitor} action="/dashboard/password" class="stack form">
          <input type="hidden" name="username" value={email} autocomplete="username" />
          <label>
            Current password
            <input type="password" name="current" autocomplete="current-password" required />
          </label>
          <NewPasswordFields />
          <button type="submit">Change the password</button>
        </Form>
      </section>
    </>,
  );
};

export const changeVisitorPassword =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    const [password, current] = [fields.get("password") ?? "", fields.get("current") ?? ""];
    if (password !== fields.get("repeated"))
      throw new UserError("The two new passwords differ: expected the same twice.");
    const result = await services.signIn.confirm(accountId, current);
    if (result === "wrong") throw new UserError("Wrong current password: expected the password that you sign in with.");
    if ("retryAfterSeconds" in result)
      throw new UserError(
        `Too many failed attempts: try again in ${Math.ceil(result.retryAfterSeconds / 60)} minutes.`,
      );
    await services.signIn.changePassword(accountId, password);
    await startBrowserSession(context, services, accountId);
    return { location: `${path}?changed=password` };
  };

/** Settings in the dashboard: the names that an account signs in with, and its password. */
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Field } from "../components/field.tsx";
import { Block, Notice } from "../shell/blocks.tsx";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { startBrowserSession } from "../shell/visitor.ts";
import { dashboardPage } from "./dashboard-page.tsx";
import { NewPasswordFields } from "./sign-in/invitation-page.tsx";

const path = "/dashboard/settings";

export const settingsPage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { accountId, email } = visitor.identity.cached.account;
    const isFirst = await mayChooseFirst(services, accountId);
    const title = isFirst ? "Set a password" : "Change the password";
    return dashboardPage(
      path,
      "Settings",
      <>
        <Notice text={query.has("changed") ? "The password is set. All other browsers are signed out." : undefined} />
        <Block id="new-password" title={title}>
          <p class="sub">
            You sign in with {email} or <code>{accountId}</code>. The address works only if no other account has it. A
            new password ends the sessions of all other browsers, and invitations that have not been used.
          </p>
          <Form visitor={visitor} action="/dashboard/password" class="stack form">
            {isFirst ? null : (
              <Field label="Current password" type="password" name="current" autocomplete="current-password" required />
            )}
            <NewPasswordFields email={email} />
            <button type="submit" class="btn prime">
              {title}
            </button>
          </Form>
        </Block>
      </>,
    );
  };

/** The account of the demo starts without a password: its sessions begin with its link or its button, on its machine. */
const mayChooseFirst = async ({ demoAccountId, signIn }: SiteServices, accountId: string): Promise<boolean> =>
  accountId === demoAccountId && !(await signIn.hasPassword(accountId));

export const changeVisitorPassword =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    const password = fields.get("password") ?? "";
    if (password !== fields.get("repeated"))
      throw new UserError("The two new passwords differ: expected the same twice.");
    if (!(await mayChooseFirst(services, accountId)))
      await requireCurrent(services, accountId, fields.get("current") ?? "");
    await services.signIn.changePassword(accountId, password);
    await startBrowserSession(context, services, accountId);
    return { location: `${path}?changed=password` };
  };

async function requireCurrent({ signIn }: SiteServices, accountId: string, current: string): Promise<void> {
  const result = await signIn.confirm(accountId, current);
  if (result === "wrong") throw new UserError("Wrong current password: expected the password that you sign in with.");
  if ("retryAfterSeconds" in result)
    throw new UserError(`Too many failed attempts: try again in ${Math.ceil(result.retryAfterSeconds / 60)} minutes.`);
}

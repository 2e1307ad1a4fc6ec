/** The page of an invitation: sets the password of an account. */
import type { OneTimeLink } from "../../accounts/sign-in/one-time-links.ts";
import { passwordLengths, passwordRule } from "../../accounts/sign-in/passwords.ts";
import type { PageContent } from "../shell/document.tsx";

/** Returns the form that sets a password; `message` says why an earlier attempt failed. */
export const invitationPage = ({ email, accountId }: OneTimeLink, secret: string, message?: string): PageContent => ({
  title: "Set a password",
  status: message === undefined ? 200 : 422,
  body: (
    <section class="narrow">
      <h1>Set a password</h1>
      <p>
        For {email}, account <code>{accountId}</code>. You sign in with either of the two.
      </p>
      {message === undefined ? null : (
        <p class="note warn" role="alert">
          {message}
        </p>
      )}
      <form class="stack" method="post" action="/invitation">
        <input type="hidden" name="token" value={secret} />
        <input type="hidden" name="username" value={email} autocomplete="username" />
        <NewPasswordFields />
        <button type="submit" class="btn prime">
          Set the password and sign in
        </button>
      </form>
    </section>
  ),
});

export const NewPasswordFields = () => (
  <>
    <label>
      New password, {passwordRule}
      <input type="password" name="password" autocomplete="new-password" minLength={passwordLengths.min} required />
    </label>
    <label>
      The same again
      <input type="password" name="repeated" autocomplete="new-password" minLength={passwordLengths.min} required />
    </label>
  </>
);

/** The page of a link that has been used, has expired or was replaced. */
export const invalidLinkPage: PageContent = {
  title: "Link not valid",
  status: 404,
  body: (
    <section class="narrow">
      <h1>This link does not work any more</h1>
      <p>
        It has been used, has expired, or a newer one has replaced it. Ask the operator of this service for another.
      </p>
      <p>
        <a href="/sign-in">Sign in</a>
      </p>
    </section>
  ),
};

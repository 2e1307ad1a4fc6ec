/** The page for anonymous visitors: a description of the service, and the form to sign in. */
import type { JSX } from "preact";
import type { OneTimeLink } from "../../accounts/sign-in/one-time-links.ts";
import type { PageContent } from "../shell/document.tsx";

/** Returns the sign-in page; `target` is the page that follows. */
export const signInPage = (target: string): PageContent => ({
  title: "Sign in",
  status: target === "/" ? 200 : 401,
  body: <SignInForm target={target} />,
});

/** Returns the page that answers a failed attempt. It depends on the attempt only. */
export const failedSignInPage = (target: string, name: string, message: string): PageContent => ({
  title: "Sign in",
  status: 401,
  body: <SignInForm target={target} name={name} message={message} />,
});

/** Returns the page of a sign-in link, whose button uses the link. */
export const signInLinkPage = ({ email, accountId }: OneTimeLink, secret: string): PageContent => ({
  title: "Sign in",
  body: (
    <section class="narrow">
      <h1>Sign in</h1>
      <p>
        As {email}, account <code>{accountId}</code>. The link works once.
      </p>
      <form class="stack" method="post" action="/sign-in/link">
        <input type="hidden" name="token" value={secret} />
        <button type="submit">Sign in</button>
      </form>
    </section>
  ),
});

interface SignInFormProps {
  readonly target: string;
  readonly name?: string;
  readonly message?: string;
}

const SignInForm = ({ target, name, message }: SignInFormProps): JSX.Element => (
  <section class="narrow">
    <h1>Carquet</h1>
    <p class="lead">Every car for sale, and what became of it: search the market, day by day, on your own server.</p>
    {message === undefined ? null : (
      <p class="message alert" role="alert">
        {message}
      </p>
    )}
    <form class="stack" method="post" action="/sign-in">
      <input type="hidden" name="next" value={target} />
      <label>
        Email or account id
        <input
          type="text"
          name="name"
          value={name}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
        />
      </label>
      <label>
        Password
        <input type="password" name="password" autocomplete="current-password" required />
      </label>
      <button type="submit">Sign in</button>
    </form>
    <p class="muted">No password yet, or forgotten? The operator of this service sends you a link.</p>
    <p>
      <a href="/docs">API reference</a> · <a href="/v1/openapi.json">OpenAPI document</a>
    </p>
  </section>
);

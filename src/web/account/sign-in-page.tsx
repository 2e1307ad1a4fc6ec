/** The page for anonymous visitors: a description of the service, and the form to sign in. */
import type { JSX } from "preact";
import type { OneTimeLink } from "../../accounts/sign-in/one-time-links.ts";
import type { PageContent } from "../shell/document.tsx";

/** Returns the sign-in page; `target` is the page that follows. */
export const signInPage = (target: string, isDemoOffered: boolean): PageContent => ({
  title: "Sign in",
  status: target === "/" ? 200 : 401,
  body: <SignIn target={target} isDemoOffered={isDemoOffered} />,
});

/** Returns the page that answers a failed attempt. It depends on the attempt only. */
export const failedSignInPage = (target: string, name: string, message: string): PageContent => ({
  title: "Sign in",
  status: 401,
  body: <SignIn target={target} name={name} message={message} />,
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
        <button type="submit" class="btn prime">
          Sign in
        </button>
      </form>
    </section>
  ),
});

interface SignInProps {
  readonly target: string;
  readonly name?: string;
  readonly message?: string;
  readonly isDemoOffered?: boolean;
}

const SignIn = ({ target, name, message, isDemoOffered = false }: SignInProps): JSX.Element => (
  <section class="narrow">
    <h1>Carquet</h1>
    <p class="lead">Every car for sale, and what became of it: search the market, day by day, on your own server.</p>
    {message === undefined ? null : (
      <p class="note warn" role="alert">
        {message}
      </p>
    )}
    {isDemoOffered ? (
      <>
        <form class="stack" method="post" action="/sign-in/demo">
          <input type="hidden" name="next" value={target} />
          <button type="submit" class="btn prime">
            Open the demo
          </button>
        </form>
        <p class="muted">A generated market on this machine. No password is needed.</p>
        <details>
          <summary>Sign in to another account</summary>
          <PasswordForm target={target} name={name} />
        </details>
      </>
    ) : (
      <PasswordForm target={target} name={name} />
    )}
    <p>
      <a href="/docs">API reference</a> · <a href="/v1/openapi.json">OpenAPI document</a>
    </p>
  </section>
);

const PasswordForm = ({
  target,
  name,
}: Pick<SignInProps, "target"> & { readonly name: string | undefined }): JSX.Element => (
  <>
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
      <button type="submit" class="btn prime">
        Sign in
      </button>
    </form>
    <p class="muted">No password yet, or forgotten? The operator of this service sends you a link.</p>
  </>
);

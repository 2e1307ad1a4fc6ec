/** What an anonymous visitor sees: what this service is, and the form to sign in. */
import type { PageContent } from "../shell/document.tsx";

/** Returns the sign-in page; `target` is the page that follows. */
export const signInPage = (target: string): PageContent => ({
  title: "Sign in",
  status: target === "/" ? 200 : 401,
  body: (
    <section class="narrow">
      <h1>Carquet</h1>
      <p class="lead">Every car for sale, and what became of it: search the market, day by day, on your own server.</p>
      <form class="stack" method="post" action="/sign-in">
        <input type="hidden" name="next" value={target} />
        <label>
          Email
          <input type="email" name="email" autocomplete="username" required />
        </label>
        <label>
          Password
          <input type="password" name="password" autocomplete="current-password" required />
        </label>
        <button type="submit">Sign in</button>
      </form>
      <p>
        <a href="/docs">API reference</a> · <a href="/v1/openapi.json">OpenAPI document</a>
      </p>
    </section>
  ),
});

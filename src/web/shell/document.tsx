/** The document around every page: head, navigation, cost, and the main part. */
import type { ComponentChildren, JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { assetPath } from "./assets.ts";
import { usd } from "./format.ts";
import type { Visitor } from "./visitor.ts";

/** The parts of the navigation; a page belongs to at most one. */
export type Section = "explorer" | "dashboard" | "operator";

export interface PageContent {
  readonly title: string;
  readonly body: ComponentChildren;
  readonly section?: Section;
  /** 200 by default. */
  readonly status?: number;
  /** The cost of the page's API requests. */
  readonly micros?: number;
  /** The address of the shown content, if it differs from that of the request. */
  readonly address?: string;
}

interface Link {
  readonly section?: Section;
  readonly path: string;
  readonly text: string;
}

const links: readonly Link[] = [
  { section: "explorer", path: "/", text: "Explorer" },
  { section: "dashboard", path: "/dashboard", text: "Dashboard" },
  { path: "/docs", text: "API docs" },
];

/** Without accounts, the dashboard has the saved searches alone. */
const openLinks = links.map((link) =>
  link.section === "dashboard" ? { ...link, path: "/dashboard/searches", text: "Saved searches" } : link,
);

const operatorLink: Link = { section: "operator", path: "/operator", text: "Operator" };

const [style, client] = [assetPath("style.css"), assetPath("client.js")];

/** Returns a whole HTML document. */
export function renderDocument(content: PageContent, visitor: Visitor | undefined): string {
  return `<!doctype html>${renderToString(<Document content={content} visitor={visitor} />)}`;
}

interface DocumentProps {
  readonly content: PageContent;
  readonly visitor: Visitor | undefined;
}

const Document = ({ content, visitor }: DocumentProps): JSX.Element => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{`${content.title} · Carquet`}</title>
      {content.address === undefined ? null : <link rel="canonical" href={content.address} />}
      <link rel="icon" type="image/png" href="/docs/icon.png" />
      <link rel="stylesheet" href={style} />
      <script type="module" src={client} />
    </head>
    <body class={visitor?.isOpen === true ? "open" : undefined}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="mark" href="/">
          Carquet
        </a>
        {visitor === undefined ? null : <Navigation section={content.section} visitor={visitor} />}
        {visitor === undefined || visitor.isOpen ? null : <Account content={content} visitor={visitor} />}
      </header>
      <main id="main" tabIndex={-1}>
        {content.body}
      </main>
    </body>
  </html>
);

interface NavigationProps {
  readonly section: Section | undefined;
  readonly visitor: Visitor;
}

const Navigation = ({ section, visitor: { identity, isOpen } }: NavigationProps): JSX.Element => (
  <nav aria-label="Main">
    <ul>
      {[...(isOpen ? openLinks : links), ...(identity.cached.account.isOperator ? [operatorLink] : [])].map((link) => (
        <li key={link.path}>
          <a
            href={link.path}
            aria-current={link.section !== undefined && link.section === section ? "page" : undefined}
          >
            {link.text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

/** The account, and its money: the cost of the page and of the month, and the balance. */
const Account = ({
  content: { micros, section },
  visitor: { identity, csrfToken },
}: DocumentProps & { readonly visitor: Visitor }) => {
  const { email, balanceMicros, spentMicros } = identity.cached.account;
  return (
    <section class="account" id="account" aria-label="Account">
      <dl>
        {micros === undefined || section === "dashboard" || section === "operator" ? null : (
          <Amount name="This view" micros={micros} id="view-cost" />
        )}
        <Amount name="This month" micros={spentMicros} />
        <Amount name="Balance" micros={balanceMicros} />
      </dl>
      <span class="email">{email}</span>
      <form method="post" action="/sign-out">
        <input type="hidden" name="csrf_token" value={csrfToken} />
        <button type="submit" class="plain">
          Sign out
        </button>
      </form>
    </section>
  );
};

interface AmountProps {
  readonly name: string;
  readonly micros: number;
  readonly id?: string;
}

const Amount = ({ name, micros, id }: AmountProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd id={id}>{usd(micros)}</dd>
  </div>
);

/** The document around every page: header with the navigation and the box to find cars, freshness, the main part, and the cost. */
import type { ComponentChildren, JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { assetPath } from "./assets.ts";
import { CapNotice } from "./cap-notice.tsx";
import { FindBox } from "./find-box.tsx";
import { usd } from "./format.ts";
import { Brand } from "./icons.tsx";
import { ShortlistTray } from "./shortlist-tray.tsx";
import type { Visitor } from "./visitor.ts";

/** The parts of the navigation; a page belongs to at most one. */
export type Section = "explorer" | "dealers" | "compare" | "docs" | "dashboard" | "operator";

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
  /** The question that led to the page, which the box of the header keeps. */
  readonly question?: string | undefined;
  /** The hosts besides this service that the page loads images from, as a source of the Content Security Policy. */
  readonly imageHosts?: string | undefined;
  /** What stands under the header: how fresh the shown data is. */
  readonly freshness?: ComponentChildren;
  /** The box of the header, if it does not find cars. */
  readonly search?: ComponentChildren;
  /** The style sheets and browser modules that other pages do not load. */
  readonly bundles?: readonly string[];
}

interface Link {
  readonly section?: Section;
  readonly path: string;
  readonly text: string;
}

const links: readonly Link[] = [
  { section: "explorer", path: "/", text: "Explore" },
  { section: "dealers", path: "/dealers", text: "Dealers" },
  { section: "compare", path: "/compare", text: "Compare" },
  { section: "docs", path: "/docs", text: "Docs" },
  { section: "dashboard", path: "/dashboard", text: "Dashboard" },
];

/** The sections whose pages cost money, and show the shortlist. */
const paidSections: readonly (Section | undefined)[] = ["explorer", "dealers", "compare"];

/** Without accounts, the dashboard has the saved searches alone. */
const openLinks = links.map((link) =>
  link.section === "dashboard" ? { ...link, path: "/dashboard/searches", text: "Saved searches" } : link,
);

const operatorLink: Link = { section: "operator", path: "/operator", text: "Operator" };

/** The pages that people see who are not signed in. */
const publicLinks = links.filter(({ section }) => section === "docs");

/** The sections whose pages have no forms and tables of accounts, and do not load their style sheet. */
const plainSections: readonly (Section | undefined)[] = ["explorer", "dealers", "compare", "docs"];

const commonBundles = ["style.css", "client.js"];

/** Returns a whole HTML document. */
export function renderDocument(content: PageContent, visitor: Visitor | undefined): string {
  return `<!doctype html>${renderToString(<Document content={content} visitor={visitor} />)}`;
}

interface DocumentProps {
  readonly content: PageContent;
  readonly visitor: Visitor | undefined;
}

const Document = ({ content, visitor }: DocumentProps): JSX.Element => {
  const isPaid = paidSections.includes(content.section);
  return (
    <html lang="en">
      <Head content={content} />
      <body class={visitor?.isOpen === true ? "open" : undefined}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Top content={content} visitor={visitor} />
        {content.freshness}
        <main class="wrap" id="main" tabIndex={-1}>
          {visitor !== undefined && !visitor.isFree && isPaid ? (
            <CapNotice account={visitor.identity.cached.account} />
          ) : null}
          {content.body}
        </main>
        {visitor !== undefined && isPaid ? <ShortlistTray /> : null}
        <Foot content={content} visitor={visitor} />
      </body>
    </html>
  );
};

const Head = ({ content: { title, address, section, bundles = [] } }: Pick<DocumentProps, "content">): JSX.Element => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>{`${title} · Carquet`}</title>
    {address === undefined ? null : <link rel="canonical" href={address} />}
    <link rel="icon" type="image/png" href="/docs/icon.png" />
    {[...commonBundles, ...(plainSections.includes(section) ? [] : ["account.css"]), ...bundles].map((name) =>
      name.endsWith(".css") ? (
        <link key={name} rel="stylesheet" href={assetPath(name)} />
      ) : (
        <script key={name} type="module" src={assetPath(name)} />
      ),
    )}
  </head>
);

const Top = ({ content, visitor }: DocumentProps): JSX.Element => (
  <header class="top">
    <div class="wrap">
      <a class="brand" href="/">
        <Brand />
        Carquet
      </a>
      <nav class="nav" aria-label="Main">
        {linksFor(visitor).map(({ section, path, text }) => (
          <a key={path} href={path} aria-current={section === content.section ? "page" : undefined}>
            {text}
          </a>
        ))}
      </nav>
      {content.search ?? (visitor === undefined ? null : <FindBox value={content.question} />)}
      {visitor === undefined ? null : <Who visitor={visitor} />}
    </div>
  </header>
);

function linksFor(visitor: Visitor | undefined): readonly Link[] {
  if (visitor === undefined) return publicLinks;
  return [
    ...(visitor.isOpen ? openLinks : links),
    ...(visitor.identity.cached.account.isOperator ? [operatorLink] : []),
  ];
}

const Who = ({ visitor: { identity, isOpen } }: { readonly visitor: Visitor }): JSX.Element =>
  isOpen ? (
    <span class="who">this machine</span>
  ) : (
    <a class="who" href="/dashboard/settings">
      {identity.cached.account.email}
    </a>
  );

/** The end of every page: its cost and the account's money in one quiet line, and the way out. */
const Foot = ({ content, visitor }: DocumentProps): JSX.Element => (
  <footer class="foot">
    <div class="wrap">
      {visitor === undefined || visitor.isFree ? <span class="meter" /> : <Meter content={content} visitor={visitor} />}
      <a href="/docs">API</a>
      <button type="button" class="js-only" data-keys>
        Keys
      </button>
      {visitor === undefined || visitor.isOpen ? null : (
        <form method="post" action="/sign-out">
          <input type="hidden" name="csrf_token" value={visitor.csrfToken} />
          <button type="submit">Sign out</button>
        </form>
      )}
    </div>
  </footer>
);

interface MeterProps {
  readonly content: PageContent;
  readonly visitor: Visitor;
}

const Meter = ({ content: { micros, section }, visitor: { identity } }: MeterProps): JSX.Element => {
  const { balanceMicros, spentMicros } = identity.cached.account;
  const viewMicros = section === "dashboard" || section === "operator" ? undefined : micros;
  const amounts = [
    { name: "This view", amount: viewMicros, id: "view-cost" },
    { name: "This month", amount: spentMicros, id: undefined },
    { name: "Balance", amount: balanceMicros, id: undefined },
  ];
  return (
    <dl class="meter" id="account" aria-label="Account">
      {amounts.map(({ name, amount, id }) =>
        amount === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd id={id}>{usd(amount)}</dd>
          </div>
        ),
      )}
    </dl>
  );
};

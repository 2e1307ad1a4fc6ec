/** The document around every page: the bar with the five doors, the verdict or another top, the main part, how the page was made, and the foot. */
import type { ComponentChildren, JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { Note } from "../components/sheet.tsx";
import { assetPath, typefacePath } from "./assets.ts";
import { type Door, doorsOf, tints } from "./doors.ts";
import { FindBox } from "./find-box.tsx";
import { age, day as dayText, leftText, usd } from "./format.ts";
import { HowMade } from "./how-made.tsx";
import { Brand, Icon } from "./icons.tsx";
import type { ChargedRequest, MissingPart } from "./page-requests.ts";
import type { Visitor } from "./visitor.ts";

export interface PageContent {
  readonly title: string;
  /** What opens the page, as wide as the window: a `Verdict`, or the hero, the car or the road that stands for it. */
  readonly top?: ComponentChildren;
  /** What follows, in the frame of the page: sheets, 18 px apart. */
  readonly body: ComponentChildren;
  /** The door that is marked in the bar, and whose tint the page has. */
  readonly door?: Door;
  /** The class of the body, such as `home`. */
  readonly look?: string;
  /** 200 by default. */
  readonly status?: number;
  /** The cost of the page's API requests, and the requests: known to the handler of pages. */
  readonly micros?: number;
  readonly requests?: readonly ChargedRequest[];
  /** The statement that answers the same as the page, if there is one. */
  readonly sql?: string | undefined;
  /** The address of the shown content, if it differs from that of the request. */
  readonly address?: string;
  /** The question that led to the page, which the box of the bar keeps. */
  readonly question?: string | undefined;
  /** Whether the page has cars at `#cars`, to which a second skip link leads. */
  readonly hasCars?: boolean;
  /** The hosts besides this service that the page loads images from, as a source of the Content Security Policy. */
  readonly imageHosts?: string | undefined;
  /** The published day of the prices, `YYYY-MM-DD`, its version, and its age if it is old: known to the handler of pages. */
  readonly day?: string | undefined;
  readonly version?: string | undefined;
  readonly oldMs?: number | undefined;
  /** What is wrong with the address, besides what the sender of pages knows. */
  readonly faults?: readonly string[];
  /** The parts that could not be loaded: known to the handler of pages. */
  readonly missing?: readonly MissingPart[];
  /** The browser modules that other pages do not load. */
  readonly bundles?: readonly string[];
}

interface DocumentProps {
  readonly content: PageContent;
  readonly visitor: Visitor | undefined;
}

/** Characters that turn the direction of what follows: in a name of a client or a feed, they could turn the sentence around it. */
const turningMarks = /[\u202a-\u202e\u2066-\u2069]/g;

/** Returns a whole HTML document. */
export function renderDocument(content: PageContent, visitor: Visitor | undefined): string {
  const html = renderToString(<Document content={content} visitor={visitor} />);
  return `<!doctype html>${html.replaceAll(turningMarks, "\ufffd")}`;
}

const Document = ({ content, visitor }: DocumentProps): JSX.Element => {
  const { door, look, top, body, hasCars = false, oldMs, faults = [], missing = [], requests = [], sql } = content;
  const classes = [tints[door ?? "shop"], look, visitor?.isOpen === true ? "open" : undefined];
  return (
    <html lang="en">
      <Head content={content} />
      <body class={classes.filter((name) => name !== undefined).join(" ")}>
        <a class="skip" href="#main">
          Skip to the page
        </a>
        {hasCars ? (
          <a class="skip" href="#cars">
            Skip to the cars
          </a>
        ) : null}
        <Bar content={content} visitor={visitor} />
        <main id="main" tabIndex={-1}>
          {oldMs === undefined ? null : (
            <div class="old" role="status">
              <p class="frame">
                <strong>These prices are {age(oldMs)} old.</strong>
              </p>
            </div>
          )}
          {top}
          <div class="frame stack page">
            {faults.map((fault) => (
              <Note key={fault} isAlert>
                {fault}
              </Note>
            ))}
            {missing.map(({ name, reason }) => (
              <Note key={`${name} ${reason}`}>{`Missing: ${name}. ${reason}`}</Note>
            ))}
            {body}
            <HowMade requests={requests} sql={sql} />
          </div>
        </main>
        <Foot content={content} visitor={visitor} />
      </body>
    </html>
  );
};

const Head = ({ content: { title, address, bundles = [] } }: Pick<DocumentProps, "content">): JSX.Element => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>{`${title} · Carquet`}</title>
    {address === undefined ? null : <link rel="canonical" href={address} />}
    <link rel="icon" type="image/png" href="/docs/icon.png" />
    <link rel="preload" href={typefacePath} as="font" type="font/woff2" crossOrigin="anonymous" />
    <link rel="stylesheet" href={assetPath("style.css")} />
    {["client.js", ...bundles].map((name) => (
      <script key={name} type="module" src={assetPath(name)} />
    ))}
  </head>
);

/** The bar: brand, doors, question box and account. On phones, the doors are a bar at the bottom. */
const Bar = ({ content, visitor }: DocumentProps): JSX.Element => (
  <header class="bar">
    <div class="frame">
      <a class="brand" href="/">
        <Brand />
        Carquet
      </a>
      <nav class="doors" aria-label="Doors">
        {doorsOf(visitor).map(({ door, path, text, icon }) => (
          <a key={path} href={path} aria-current={door === content.door ? "page" : undefined}>
            <Icon name={icon} />
            {text}
          </a>
        ))}
      </nav>
      {visitor === undefined || content.look === "home" ? null : <FindBox value={content.question} />}
      <a class="kept" href="/shop?view=table" data-kept hidden>
        <Icon name="heart" />
        <span data-kept-count />
        <span class="vh"> kept cars</span>
      </a>
      <Who visitor={visitor} />
    </div>
  </header>
);

const Who = ({ visitor }: Pick<DocumentProps, "visitor">): JSX.Element => {
  if (visitor === undefined)
    return (
      <a class="who" href="/sign-in">
        Sign in
      </a>
    );
  return visitor.isOpen ? (
    <span class="who">this machine</span>
  ) : (
    <a class="who" href="/account">
      {visitor.identity.cached.account.email}
    </a>
  );
};

/** The foot: the day of the prices, or for operators the version; the cost of the page and the balance; ways out. */
const Foot = ({ content: { day, version, micros, door }, visitor }: DocumentProps): JSX.Element => {
  const source = door === "operate" ? version && `Version ${version}` : day && `Prices of ${dayText(day)}`;
  const hasMoney = visitor !== undefined && !visitor.isFree && door !== "operate";
  return (
    <footer class="foot">
      <div class="frame">
        {source === undefined ? null : <span>{source}</span>}
        {hasMoney && micros !== undefined && micros > 0 ? (
          <span>
            This page cost <span id="page-cost">{usd(micros)}</span>
          </span>
        ) : null}
        {visitor?.isOpen === true ? <span>No accounts, no charges: this service runs for its own machine</span> : null}
        {hasMoney ? (
          <span>
            Balance <span id="balance">{leftText(visitor.identity.cached.account.balanceMicros)}</span>
          </span>
        ) : null}
        {door === "operate" && visitor?.isOpen === false ? (
          <span>Operators are not charged for these pages</span>
        ) : null}
        <span class="end">
          <a href="/docs">API</a>
          {visitor === undefined || visitor.isOpen ? null : <a href="/account">Account</a>}
          <a href="/docs/guides/explorer">Help</a>
          {visitor === undefined || visitor.isOpen ? null : <SignOut visitor={visitor} />}
        </span>
      </div>
    </footer>
  );
};

const SignOut = ({ visitor }: { readonly visitor: Visitor }): JSX.Element => (
  <form method="post" action="/sign-out">
    <input type="hidden" name="csrf_token" value={visitor.csrfToken} />
    <button type="submit" class="plain">
      Sign out
    </button>
  </form>
);

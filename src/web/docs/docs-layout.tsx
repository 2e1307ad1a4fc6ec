/** The frame of the pages of the docs: navigation beside the content, as a list to choose from on small screens, and the search of the header. */
import type { ComponentChildren, JSX } from "preact";
import { Icon } from "../shell/icons.tsx";
import { type DocsLink, docsGroups } from "./navigation.ts";

interface DocsLayoutProps {
  /** The path of the page. */
  readonly path: string;
  readonly children: ComponentChildren;
}

export const DocsLayout = ({ path, children }: DocsLayoutProps): JSX.Element => (
  <div class="docs">
    <nav aria-label="Docs">
      <form class="docpick" action="/docs/open">
        <select name="page" aria-label="Page of the docs">
          {docsGroups.map(({ title, links }) => (
            <optgroup key={title} label={title}>
              {links.map((link) => (
                <option key={link.path} value={link.path} selected={link.path === path}>
                  {link.title}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <button type="submit">Go</button>
      </form>
      {docsGroups.map(({ title, links }) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {links.map((link) => (
              <li key={link.path}>
                <NavigationLink link={link} isCurrent={link.path === path} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
    {children}
  </div>
);

const NavigationLink = ({ link, isCurrent }: { readonly link: DocsLink; readonly isCurrent: boolean }): JSX.Element => (
  <a href={link.path} aria-current={isCurrent ? "page" : undefined}>
    {link.title}
  </a>
);

/** The box in the header that searches the docs; without scripts, it leads to a page of results. */
export const DocsSearchBox = ({ question }: { readonly question?: string | undefined }): JSX.Element => (
  <search class="find">
    <form action="/docs/search">
      <Icon name="search" />
      <input
        {...{ type: "search", name: "q", maxLength: 100, autocomplete: "off", value: question }}
        id="docs-search"
        aria-label="Search the docs"
        placeholder="Search the docs"
      />
      <kbd>/</kbd>
    </form>
  </search>
);

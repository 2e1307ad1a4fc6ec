/** The frame of the pages of the docs: navigation beside the content, as a list to choose from on small screens. */
import type { ComponentChildren, JSX } from "preact";
import { docsGroups } from "./navigation.ts";

interface DocsLayoutProps {
  /** The path of the page. */
  readonly path: string;
  readonly children: ComponentChildren;
}

export const DocsLayout = ({ path: current, children }: DocsLayoutProps): JSX.Element => (
  <div class="docs">
    <nav aria-label="Docs">
      <form class="docpick" action="/docs/open">
        <select name="page" aria-label="Page of the docs">
          <option value="/docs">Overview</option>
          {docsGroups.map(({ title, links }) => (
            <optgroup key={title} label={title}>
              {links.map(({ path, title }) => (
                <option key={path} value={path} selected={path === current}>
                  {title}
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
            {links.map(({ path, title }) => (
              <li key={path}>
                <a href={path} aria-current={path === current ? "page" : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
    {children}
  </div>
);

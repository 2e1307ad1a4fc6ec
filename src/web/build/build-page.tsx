/** The frame of the pages of Build: the top with its title, and the list of all pages beside the content, below it on small screens. */
import type { ComponentChildren, JSX } from "preact";
import type { PageContent } from "../shell/document.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { proseHtml } from "./markdown.tsx";
import { conventionsPath, guideGroups, operationGroups } from "./navigation.ts";

interface BuildPage {
  /** The path of the page, which is marked in the list. */
  readonly path: string;
  readonly title: string;
  /** The group of the page. */
  readonly group?: string | undefined;
  /** One line of Markdown below the title. */
  readonly lede?: string | undefined;
  readonly visitor: Visitor | undefined;
  /** One or two columns beside the list of pages. */
  readonly columns: 1 | 2;
  readonly children: ComponentChildren;
}

/** Returns the content of a page of Build. */
export function buildPage({ path, title, group, lede, visitor, columns, children }: BuildPage): PageContent {
  return {
    title,
    door: "build",
    top: (
      <Verdict
        kicker={path === "/docs" ? "Build" : <Kicker above={[["/docs", "Build"]]} here={group} />}
        judgement={{ sentence: [title] }}
      >
        {lede === undefined ? null : <div class="lede" dangerouslySetInnerHTML={{ __html: proseHtml(lede) }} />}
      </Verdict>
    ),
    body: (
      <div class={columns === 1 ? "docs two-cols" : "docs"}>
        <SideList path={path} visitor={visitor} />
        {children}
      </div>
    ),
  };
}

const SideList = ({ path, visitor }: Pick<BuildPage, "path" | "visitor">): JSX.Element => {
  const hasKeys = visitor !== undefined && !visitor.isOpen;
  const link = (to: string, title: string): JSX.Element => (
    <a key={to} href={to} aria-current={to === path ? "page" : undefined}>
      {title}
    </a>
  );
  return (
    <nav class="side" aria-label="Build">
      {link("/docs", "Start")}
      {link("/sql", "SQL")}
      {link(hasKeys ? "/account#keys" : `${conventionsPath}#authentication`, "Keys")}
      {link("/docs/guides/agents", "Agents")}
      {operationGroups.map(({ title, links }) => (
        <>
          <b>{title}</b>
          {links.map((one) => link(one.path, one.title))}
        </>
      ))}
      <details open={guideGroups.some(({ links }) => links.some((one) => one.path === path))}>
        <summary>Guides and reference</summary>
        {guideGroups.map(({ title, links }) => (
          <>
            <b>{title}</b>
            {links.map((one) => link(one.path, one.title))}
          </>
        ))}
      </details>
    </nav>
  );
};

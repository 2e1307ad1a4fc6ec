/** The frame of the dashboard's pages: their navigation, and figures. */
import type { ComponentChildren, JSX } from "preact";
import type { PageContent } from "../shell/document.tsx";

const pages = [
  { path: "/dashboard", text: "Money and usage" },
  { path: "/dashboard/keys", text: "Keys" },
  { path: "/dashboard/agents", text: "Connected agents" },
  { path: "/dashboard/searches", text: "Saved searches" },
  { path: "/dashboard/ledger", text: "Ledger" },
  { path: "/dashboard/limits", text: "Limits" },
  { path: "/dashboard/settings", text: "Sign-in" },
] as const;

type DashboardPath = (typeof pages)[number]["path"];

export const dashboardPage = (path: DashboardPath, title: string, body: ComponentChildren): PageContent => ({
  title,
  section: "dashboard",
  body: (
    <div class="board">
      <SectionNavigation name="Dashboard" pages={pages} current={path} />
      <h1>{title}</h1>
      {body}
    </div>
  ),
});

interface SectionNavigationProps {
  readonly name: string;
  readonly pages: readonly { readonly path: string; readonly text: string }[];
  readonly current: string;
}

export const SectionNavigation = ({ name, pages: linked, current }: SectionNavigationProps): JSX.Element => (
  <nav class={`pages ${name.toLowerCase()}`} aria-label={name}>
    <ul>
      {linked.map(({ path, text }) => (
        <li key={path}>
          <a href={path} aria-current={path === current ? "page" : undefined}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

interface FigureProps {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}

export const Figures = ({ figures }: { readonly figures: readonly FigureProps[] }): JSX.Element => (
  <dl class="amounts">
    {figures.map(({ name, value, note }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
        {note === undefined ? null : <dd class="note">{note}</dd>}
      </div>
    ))}
  </dl>
);

/** A message about the change that led to this page. */
export const Notice = ({ text }: { readonly text: string | undefined }): JSX.Element | null =>
  text === undefined ? null : (
    <p class="message" role="status">
      {text}
    </p>
  );

/** A table that scrolls sideways where it is too wide. */
export const ScrollingTable = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
  <section class="wide-table" tabIndex={0} aria-label={`${label}, table`}>
    <table>{children}</table>
  </section>
);

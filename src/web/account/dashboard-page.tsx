/** The pages of the dashboard. */
import type { ComponentChildren } from "preact";
import { framedPage } from "../shell/blocks.tsx";
import type { PageContent } from "../shell/document.tsx";

const pages = [
  { path: "/dashboard", text: "Overview" },
  { path: "/dashboard/keys", text: "Keys" },
  { path: "/dashboard/ledger", text: "Ledger" },
  { path: "/dashboard/limits", text: "Limits" },
  { path: "/dashboard/agents", text: "Connected agents" },
  { path: "/dashboard/searches", text: "Saved searches" },
  { path: "/dashboard/settings", text: "Settings" },
] as const;

export const dashboardPage = (
  path: (typeof pages)[number]["path"],
  title: string,
  body: ComponentChildren,
): PageContent => framedPage({ door: "account", pages, path }, title, body);

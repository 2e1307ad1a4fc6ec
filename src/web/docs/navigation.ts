/** The pages of the docs in their groups: guides of `docs/` and operations of the document. */
import { readdirSync } from "node:fs";
import { projectPath, projectText } from "../../base/project-files.ts";
import { document } from "../../contract/document.ts";
import { operationDocs } from "./operation-docs.ts";

export interface DocsLink {
  readonly path: string;
  readonly title: string;
}

export interface DocsGroup {
  readonly title: string;
  readonly links: readonly DocsLink[];
}

/** The guides of each group, by the names of their files; guides without a group are in the last one. */
const guideGroups: Readonly<Record<string, readonly string[]>> = {
  Start: ["getting-started", "first-feed", "how-it-works", "troubleshooting"],
  Use: [
    "api",
    "explorer",
    "agents",
    "analysts",
    "sql",
    "valuation",
    "changes",
    "webhooks",
    "open-from-elsewhere",
    "iceberg",
  ],
  Operate: [
    "feeds",
    "mappings",
    "ingest",
    "lifecycle",
    "accounts",
    "deployment",
    "operations",
    "replication",
    "configuration",
  ],
};

/** The names of all guides. The changelog is one too. */
export const guideNames: readonly string[] = [
  ...readdirSync(projectPath("docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.slice(0, -".md".length)),
  "changelog",
];

/** Returns the file of a guide, relative to the project. */
export const guideFile = (name: string): string => (name === "changelog" ? "CHANGELOG.md" : `docs/${name}.md`);

export const guidePath = (name: string): string => `/docs/guides/${name}`;

const guideLink = (name: string): DocsLink => ({
  path: guidePath(name),
  title: /^# (.*)$/m.exec(projectText(guideFile(name)))?.[1]?.replaceAll("`", "") ?? name,
});

const operationGroups: readonly DocsGroup[] = document.tags.map(({ name }) => ({
  title: name,
  links: operationDocs
    .filter(({ tag }) => tag === name)
    .map(({ page, object }) => ({ path: page, title: object.summary })),
}));

export const conventionsPath = "/docs/conventions";
export const errorsPath = "/docs/errors";

const reference: DocsGroup = {
  title: "Reference",
  links: [
    { path: conventionsPath, title: "Conventions" },
    { path: errorsPath, title: "Errors" },
    { path: `${conventionsPath}#billing`, title: "Prices" },
    { path: `${conventionsPath}#rate-limits`, title: "Rate limits" },
    { path: `${conventionsPath}#authentication`, title: "Keys and scopes" },
  ],
};

const { Start = [], ...others } = guideGroups;
const grouped = new Set(Object.values(guideGroups).flat());

export const docsGroups: readonly DocsGroup[] = [
  { title: "Start", links: Start.map(guideLink) },
  ...operationGroups,
  reference,
  ...Object.entries(others).map(([title, names]) => ({ title, links: names.map(guideLink) })),
  { title: "More", links: guideNames.filter((name) => !grouped.has(name)).map(guideLink) },
];

/** The pages of the docs in their groups: guides of `docs/` and operations of the document. */
import { document } from "../../contract/document.ts";
import { guides } from "./guides.ts";
import { operationDocs } from "./operation-docs.ts";

interface DocsLink {
  readonly path: string;
  readonly title: string;
}

interface DocsGroup {
  readonly title: string;
  readonly links: readonly DocsLink[];
}

export const conventionsPath = "/docs/conventions";
export const errorsPath = "/docs/errors";

/** The guides of the groups, by name; all others are in the last group. */
const groupedGuides = {
  start: "getting-started first-feed how-it-works troubleshooting",
  use: "api explorer agents analysts sql valuation changes webhooks open-from-elsewhere iceberg",
  operate: "feeds mappings ingest lifecycle accounts deployment operations replication configuration",
};

const guidesNamed = (names: string): readonly DocsLink[] =>
  names.split(" ").flatMap((name) => guides.filter((guide) => guide.name === name));

const isGrouped = (name: string): boolean => Object.values(groupedGuides).join(" ").split(" ").includes(name);

export const docsGroups: readonly DocsGroup[] = [
  { title: "Start", links: guidesNamed(groupedGuides.start) },
  ...document.tags.map(({ name }) => ({
    title: name,
    links: operationDocs.filter(({ tag }) => tag === name),
  })),
  {
    title: "Reference",
    links: [
      { path: conventionsPath, title: "Conventions" },
      { path: errorsPath, title: "Errors" },
      { path: `${conventionsPath}#billing`, title: "Prices" },
      { path: `${conventionsPath}#rate-limits`, title: "Rate limits" },
      { path: `${conventionsPath}#authentication`, title: "Keys and scopes" },
    ],
  },
  { title: "Use", links: guidesNamed(groupedGuides.use) },
  { title: "Operate", links: guidesNamed(groupedGuides.operate) },
  { title: "More", links: guides.filter(({ name }) => !isGrouped(name)) },
];

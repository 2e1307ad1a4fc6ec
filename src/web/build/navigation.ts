/** The pages of Build in their groups: operations of the document, by what one does with them, and guides of `docs/`. */
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

/** The tags of the operations of each group; the last group has all others too. */
const groupedTags = [
  ["Find", "Listings Vehicles Dealers Suggestions Evidence"],
  ["Count", "Facets Groups Trends"],
  ["Value", "Valuations Fit"],
  ["Follow", "Changes Searches Exports Statements Usage Document"],
] as const;

const lastGroup = "Follow";

/** Returns the group of an operation, by its tag. */
export const groupOfTag = (tag: string): string =>
  groupedTags.find(([, tags]) => tags.split(" ").includes(tag))?.[0] ?? lastGroup;

export const operationGroups: readonly DocsGroup[] = groupedTags.map(([title]) => ({
  title,
  links: operationDocs.filter(({ tag }) => groupOfTag(tag) === title),
}));

/** The guides of the groups, by name; all others are in the last group. */
const groupedGuides = {
  start: "getting-started first-feed how-it-works troubleshooting",
  use: "api explorer agents analysts sql valuation changes webhooks open-from-elsewhere iceberg",
  operate: "feeds mappings ingest lifecycle accounts deployment operations replication configuration",
};

const guidesNamed = (names: string): readonly DocsLink[] =>
  names.split(" ").flatMap((name) => guides.filter((guide) => guide.name === name));

const isGrouped = (name: string): boolean => Object.values(groupedGuides).join(" ").split(" ").includes(name);

export const guideGroups: readonly DocsGroup[] = [
  { title: "Start", links: guidesNamed(groupedGuides.start) },
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

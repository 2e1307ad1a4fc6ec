/** The pages of Build in their groups: operations of the document, by what one does with them, and guides of `docs/`. */
import type { OperationId } from "../../contract/types.ts";
import { guides } from "./guides.ts";
import { errorCodes, operationDocs } from "./operation-docs.ts";

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

/** The short names of operations in the list of pages; others have their titles. */
const shortNames: Readonly<Partial<Record<OperationId, string>>> = {
  getEvidence: "History of a VIN",
  suggestFilters: "Suggest",
  interpretQuestion: "Ask in words",
  getFacets: "Facets",
  getGroups: "Groups",
  getTrends: "Trends",
  getListingComparables: "Comparables",
  findComparables: "A described car",
  valueVehicles: "Valuations",
  getDepreciation: "Depreciation",
  findFittingDealers: "Dealers that fit",
  findFittingModels: "Models that fit",
  listChanges: "Changes",
  listSearches: "Saved searches",
  exportListings: "Exports",
};

export const operationGroups: readonly DocsGroup[] = groupedTags.map(([title]) => ({
  title,
  links: operationDocs
    .filter(({ tag }) => groupOfTag(tag) === title)
    .map((docs) => ({ path: docs.path, title: shortNames[docs.operation.id] ?? docs.title })),
}));

/** Returns the page of Build that words name: an operation, a parameter, an error, or a guide whose name is of several words; undefined if they name none. */
export function pageNamed(words: string): string | undefined {
  const isNamed = (...names: readonly string[]): boolean =>
    names.some((name) => name.toLowerCase() === words.toLowerCase());
  const named = operationDocs.find(({ title, operation: { id, path } }) =>
    isNamed(title, id, path, shortNames[id] ?? title),
  );
  if (named !== undefined) return named.path;
  if (errorCodes.some((code) => isNamed(code))) return `${errorsPath}#${words.toLowerCase()}`;
  // Words without an underscore, such as make, are of cars.
  const having = operationDocs.find(({ parameters }) => parameters.some(({ name }) => isNamed(name)));
  if (having !== undefined && words.includes("_")) return `${having.path}#param-${words.toLowerCase()}`;
  // One word, such as explorer, is of cars too: "guide explorer" is of a guide.
  return guides.find(({ title, name }) => isNamed(`guide ${name}`) || (/[ -]/.test(words) && isNamed(title, name)))
    ?.path;
}

/** The guides of the groups, by name; all others are in the last group. */
const groupedGuides = [
  ["Start", "getting-started first-feed how-it-works troubleshooting"],
  ["Use", "api explorer agents analysts sql valuation changes webhooks open-from-elsewhere iceberg"],
  ["Operate", "feeds mappings ingest lifecycle accounts deployment operations replication configuration"],
] as const;

const grouped = groupedGuides.flatMap(([, names]) => names.split(" "));

export const guideGroups: readonly DocsGroup[] = [
  ...groupedGuides.map(([title, names]) => ({
    title,
    links: names.split(" ").flatMap((name) => guides.filter((guide) => guide.name === name)),
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
  { title: "More", links: guides.filter(({ name }) => !grouped.includes(name)) },
];

/** Attributes that a test adds to a copy of the project, and their entries in the document, which copy those of existing ones. */

/** A new attribute: its row, the row that it follows in its table, and the schema of its feed field. */
export interface NewAttribute {
  readonly row: string;
  readonly after: string;
  readonly table: "inventory" | "dealers";
  readonly field: object;
}

const text = { type: "string", maxLength: 64 };
const spelled = (rest: string): string => `{ ...spelled${rest} }`;
const number = { type: "number", minimum: -1000, maximum: 10_000 };
const numberRow = (type: string, range: string, rest = ""): string =>
  `{ ...number, type: "${type}", range: "${range}", sort: "${range}"${rest} }`;
/** The end of a row that is shown at the end of each view. */
const shownAs = (title: string): string => `, title: "${title}", shown: { facet: 99, agents: 99 }`;

/** Texts, whole numbers, decimal fractions and a list, of builds, dealers and listings. */
const rows = {
  engine_aspiration: {
    row: spelled(shownAs("Aspiration")),
    after: "assembly_country",
    table: "inventory",
    field: text,
  },
  title_status: { row: spelled(""), after: "sold_on_record", table: "inventory", field: text },
  horsepower: {
    row: numberRow("SMALLINT", "power"),
    after: "assembly_country",
    table: "inventory",
    field: { ...number, type: "integer" },
  },
  battery_kwh: {
    row: numberRow("DECIMAL(6,1)", "battery", shownAs("Battery")),
    after: "assembly_country",
    table: "inventory",
    field: number,
  },
  rating: { row: numberRow("DECIMAL(2,1)", "rating"), after: "makes", table: "dealers", field: number },
  price_trend: {
    row: numberRow("DECIMAL(7,2)", "price_trend"),
    after: "sold_on_record",
    table: "inventory",
    field: number,
  },
  warranties: {
    row: `{ type: listTypeOf("INTEGER"), feed: "tokens", search: "tokens", kind: "warranty", serve: "words" }`,
    after: "sold_on_record",
    table: "inventory",
    field: { type: "array", items: text },
  },
} as const satisfies Readonly<Record<string, NewAttribute>>;
export const newNames = Object.keys(rows);
export const newAttributes: readonly (readonly [string, NewAttribute])[] = Object.entries(rows);

type Replacement = readonly [what: RegExp, by: string];

/** Copies the entries of `engine` or `features` in the document: parameters, a field, a facet, a property of listings and builds. */
const copyOf = (existing: string, name: string, property: string): readonly Replacement[] => [
  [new RegExp(`^( +- \\{\\$ref: "#/components/parameters/(exclude_)?)${existing}"\\}\\n`, "gm"), `$&$1${name}"}\n`],
  [
    new RegExp(`^( {4}(?:exclude_)?)${existing}(:\\n +name: (?:exclude_)?)${existing}(\\n(?: {6}.*\\n)+)`, "gm"),
    `$&\n$1${name}$2${name}$3`,
  ],
  [
    new RegExp(`^( +)${existing}:( \\{type: \\[string, "null"\\].*\\}|\\n +type: array)\\n`, "gm"),
    `$1${name}: ${property}\n$&`,
  ],
  [new RegExp(`\\b${existing},(?=\\s)`, "g"), `${existing}, ${name},`],
];

/** Copies the entries of `miles` in the document: bounds, sorts, a field, a facet with statistics and ranges, metrics, a property. */
const copyOfMiles = (name: string, { row, after }: NewAttribute): readonly Replacement[] => {
  const [, range = ""] = /range: "(\w+)"/.exec(row) ?? [];
  const sibling = { assembly_country: "engine", makes: "dealer_name", sold_on_record: "miles" }[after] ?? "";
  return [
    [/^( +- \{\$ref: "#\/components\/parameters\/m(?:in|ax)_)mileage"\}\n/gm, `$&$1${range}"}\n`],
    [
      /^( {4}(m(?:in|ax)_))mileage:\n( +name: )m(?:in|ax)_mileage\n((?: {6}.*\n)+?) {6}schema: .*\n(?: {6}.*\n)+/gm,
      `$&\n$1${range}:\n$3$2${range}\n$4      schema: {type: number}\n`,
    ],
    [/^( +- )miles\n +- -miles\n/gm, `$&$1${range}\n$1-${range}\n`],
    [/^( +- )miles\n +- miles_descending\n/gm, `$&$1${range}\n$1${range}_descending\n`],
    [/\bmiles,(?=\s)/g, `miles, ${name},`],
    [/\|miles\|/g, `|miles|${name}|`],
    [/\bmiles\.mean, /g, `$&${name}.mean, ${name}.p95, `],
    [new RegExp(`^( +)${sibling}: \\{type: .*\n`, "gm"), `$&$1${name}: {type: [number, "null"]}\n`],
  ];
};

/** Returns what changes in the document for a new attribute. */
export const documentChanges = (name: string, attribute: NewAttribute): readonly Replacement[] => {
  if (attribute.row.includes("...number")) return copyOfMiles(name, attribute);
  return attribute.row.includes(`"tokens"`)
    ? copyOf("features", name, "{type: array, items: {type: string}}")
    : copyOf("engine", name, `{type: [string, "null"]}`);
};

/** Rows that must not compile, by table: the document lacks them, or nothing can fill or search them. */
export const wrongRows = {
  builds: {
    fractional: `{ type: "DOUBLE", feed: "field", search: "number" }`,
    ruled: `{ type: "VARCHAR", feed: "rule" }`,
    listed: `{ type: listTypeOf("INTEGER"), feed: "tokens", search: "tokens", kind: "listed" }`,
  },
  dealers: { remembered: `{ type: "VARCHAR", feed: "history" }` },
  listings: {
    undocumented: `{ type: "VARCHAR", feed: "field", search: "category" }`,
    unsorted: `{ type: "INTEGER", feed: "field", search: "number", range: "unranged", sort: "unsorted" }`,
    untold: `{ type: "INTEGER", feed: "history" }`,
    unruled: `{ type: "INTEGER", feed: "rule" }`,
    dated: `{ type: "DATE", feed: "field", search: "category" }`,
  },
} as const;

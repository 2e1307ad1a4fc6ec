/** The Carquet feed format: the tables of a delivery and their fields, read from `schemas/feed.json`. */
import { projectText } from "../../base/project-files.ts";

/** The JSON Schema of a field, limited to the keywords that ingest uses. */
export interface FeedField {
  readonly type: "string" | "integer" | "number" | "boolean" | "array";
  readonly format?: "uuid" | "uri" | "website" | "date-time";
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: { readonly $ref: string } | Omit<FeedField, "items">;
  /** Other names of its column, in lower case, for files that name it so. */
  readonly "x-column-aliases"?: readonly string[];
  /** Synonyms of `enum` values. */
  readonly "x-aliases"?: Readonly<Record<string, string>>;
  /** What a whole number counts, if it has a unit. */
  readonly "x-quantity"?: "money" | "distance";
  /** Whether words such as NONE are values of the field, not markers of an unknown value. */
  readonly "x-words-are-values"?: boolean;
}

interface FeedTableSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, FeedField>>;
}

export type FeedTable = "dealers" | "inventory" | "options" | "deliveries";

interface FeedSchema {
  readonly "x-list-separator": string;
  readonly "x-unknown-markers": readonly string[];
  readonly $defs: Readonly<Record<FeedTable, FeedTableSchema>>;
}

const schema: FeedSchema = JSON.parse(projectText("schemas/feed.json"));

/** The tables of a delivery, in processing order. */
export const feedTables: readonly FeedTable[] = ["dealers", "options", "inventory", "deliveries"];

/** The fields of each table, and its required columns. */
export const feed: Readonly<Record<FeedTable, FeedTableSchema>> = schema.$defs;

/** The fields of each table by the names of their columns, in lower case. */
const fieldsByColumn = new Map(
  feedTables.map((table) => {
    const fields = Object.entries(feed[table].properties);
    const names = fields.flatMap(([field, { "x-column-aliases": aliases = [] }]) =>
      [field, ...aliases].map((name): readonly [string, string] => [name, field]),
    );
    return [table, new Map(names)] as const;
  }),
);

/** Returns the field that a column of a file fills: it has its name or an alias, in any case. */
export const fieldOfColumn = (table: FeedTable, column: string): string | undefined =>
  fieldsByColumn.get(table)?.get(column.toLowerCase());

/** Returns whether a field is a list of text values. */
export const isTextList = (field: FeedField | undefined): boolean =>
  field?.items !== undefined && !("$ref" in field.items);

/** Separator of list items in a CSV field. */
export const listSeparator = schema["x-list-separator"];

/** Texts, in lower case, that stand for an unknown value. */
export const unknownMarkers = schema["x-unknown-markers"];

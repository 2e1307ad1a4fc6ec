/** Our own feed format, read from `schemas/feed.json`: the tables of a delivery and the fields of each. */
import { projectText } from "../../base/project-files.ts";

/** A JSON Schema of a field, as far as reading it goes. */
export interface FeedField {
  readonly type: "string" | "integer" | "number" | "boolean" | "array";
  readonly format?: "uuid" | "uri" | "date-time";
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: { readonly $ref: string } | Omit<FeedField, "items">;
  /** Other spellings of an `enum`'s values. */
  readonly "x-aliases"?: Readonly<Record<string, string>>;
}

interface FeedTableSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, FeedField>>;
}

export type FeedTable = "dealers" | "inventory" | "options" | "deliveries";

const schema: { readonly "x-list-separator": string; readonly $defs: Readonly<Record<FeedTable, FeedTableSchema>> } =
  JSON.parse(projectText("schemas/feed.json"));

/** The tables of a delivery, dealers first. */
export const feedTables: readonly FeedTable[] = ["dealers", "options", "inventory", "deliveries"];

/** Each table's fields by name, and which of them every file must have. */
export const feed: Readonly<Record<FeedTable, FeedTableSchema>> = schema.$defs;

/** Whether a field is a list of texts. */
export const isTextList = (field: FeedField | undefined): boolean =>
  field?.items !== undefined && !("$ref" in field.items);

/** Between the items of a list in one field of a CSV file. */
export const listSeparator = schema["x-list-separator"];

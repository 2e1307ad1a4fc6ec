/**
 * Tables: the columns of an operation's answer, for formats with a schema. They derive from the document: a column for each property of the
 * items of `data`, in the order of the document, or of the operation's `x-row` where `data` is not a list.
 */
import type { Row } from "../base/json.ts";
import { operation, resolve } from "./document.ts";
import type { ResponseSchema } from "./operations.ts";
import type { OperationId } from "./types.ts";

/**
 * The type of a column.
 *
 * - `category`: text with few distinct values, worth a dictionary.
 * - `integer`: signed, of 32 or 64 bits.
 * - `number`: a double.
 * - `date`: JSON text `YYYY-MM-DD`.
 * - `timestamp`: JSON text `YYYY-MM-DDTHH:MM:SSZ`, in UTC; formats store microseconds.
 */
export type ColumnType =
  | { readonly kind: "text" | "category" | "number" | "boolean" | "date" | "timestamp" }
  | { readonly kind: "integer"; readonly bits: 32 | 64 }
  | { readonly kind: "list"; readonly items: ColumnType }
  | { readonly kind: "struct"; readonly columns: readonly Column[] };

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Whether values can be null; those of a struct also stand for absent properties. */
  readonly isNullable: boolean;
}

/** Texts by key, for formats that can hold them. */
export type TableMetadata = Readonly<Record<string, string>>;

/** Rows of an operation's answer with their columns: what the formats encode. */
export interface Table {
  readonly columns: readonly Column[];
  /** A property that a row lacks counts as null. */
  readonly rows: readonly Row[];
  readonly metadata: TableMetadata;
}

/** The attributes with an `exclude_` parameter: those that requests filter by value. */
const categories: ReadonlySet<string> = new Set(
  operation("getFacets").parameters.flatMap(({ name }) => /^exclude_(.+)$/.exec(name)?.[1] ?? []),
);

/** Returns the columns of an operation's rows. Throws a TypeError if its document describes no rows. */
export function tableColumns(id: OperationId): readonly Column[] {
  const { row: ownRow, body } = operation(id);
  const data = resolve<ResponseSchema>(resolve<ResponseSchema>(body).properties?.data ?? {});
  const row = ownRow ?? data.items;
  if (row === undefined) throw new TypeError(`The data of ${id} is not a list: expected an x-row in the document.`);
  return propertiesOf(resolve<ResponseSchema>(row)).map(({ isRequired: _, ...column }) => ({
    ...column,
    type: column.type.kind === "text" && categories.has(column.name) ? { kind: "category" } : column.type,
  }));
}

/** Returns the properties of an object schema as columns. */
function propertiesOf({
  properties = {},
  required = [],
}: ResponseSchema): readonly (Column & { isRequired: boolean })[] {
  return Object.entries(properties).map(([name, property]) => {
    const schema = resolve<ResponseSchema>(property);
    return { name, type: typeOf(schema, name), isNullable: acceptsNull(schema), isRequired: required.includes(name) };
  });
}

function typeOf(schema: ResponseSchema, name: string): ColumnType {
  const alternative = schema.oneOf?.map((one) => resolve<ResponseSchema>(one)).find(({ type }) => type !== "null");
  if (alternative !== undefined) return typeOf(alternative, name);
  const type = typesOf(schema).find((one) => one !== "null");
  if (type === "integer") return { kind: "integer", bits: schema.format === "int64" ? 64 : 32 };
  if (type === "number" || type === "boolean") return { kind: type };
  if (type === "array") return { kind: "list", items: typeOf(resolve<ResponseSchema>(schema.items ?? {}), name) };
  if (type === "object" && schema.properties !== undefined) return { kind: "struct", columns: membersOf(schema) };
  if (type !== "string") throw new TypeError(`Property ${name} has no column type: expected one type besides null.`);
  if (schema.enum !== undefined) return { kind: "category" };
  return { kind: textKinds[schema.format ?? ""] ?? "text" };
}

const textKinds: Readonly<Record<string, "date" | "timestamp">> = { date: "date", "date-time": "timestamp" };

/** Returns the members of a struct. A property that may be absent is null instead. */
const membersOf = (schema: ResponseSchema): readonly Column[] =>
  propertiesOf(schema).map(({ isRequired, isNullable, ...column }) => ({
    ...column,
    isNullable: isNullable || !isRequired,
  }));

const typesOf = ({ type }: ResponseSchema): readonly string[] => (typeof type === "string" ? [type] : (type ?? []));

const acceptsNull = (schema: ResponseSchema): boolean =>
  typesOf(schema).includes("null") || (schema.oneOf ?? []).some((one) => acceptsNull(resolve<ResponseSchema>(one)));

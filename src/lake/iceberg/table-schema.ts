/**
 * Schemas of the lake's tables in Apache Iceberg's types, derived from `tables.ts`. New Parquet files have their field ids; for those of earlier
 * releases, tables have a mapping from field ids to column names.
 *
 * Field ids never change: an attribute's column has the number of its place from 1, what a table adds to the columns of listings follows from 61,
 * and the n-th field within a column or field has its id followed by n in two digits. Columns are therefore only added at the end.
 */
import type { DuckType } from "../../db/duck-type.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { listingColumns, type TableName, tableNames, tableOf } from "../tables.ts";

export const icebergTables = tableNames;

export type IcebergTable = TableName;

export type IcebergType =
  | string
  | {
      readonly type: "list";
      readonly "element-id": number;
      readonly "element-required": false;
      readonly element: IcebergType;
    }
  | { readonly type: "struct"; readonly fields: readonly IcebergField[] };

export interface IcebergField {
  readonly id: number;
  readonly name: string;
  readonly required: false;
  readonly type: IcebergType;
}

/** A field id with the name of its column; lists call their elements `element`. */
interface MappedField {
  readonly "field-id": number;
  readonly names: readonly string[];
  readonly fields?: readonly MappedField[];
}

/** Iceberg's types of DuckDB's types without parameters. */
const simpleTypes: Readonly<Record<string, string>> = {
  VARCHAR: "string",
  BOOLEAN: "boolean",
  SMALLINT: "int",
  INTEGER: "int",
  BIGINT: "long",
  DOUBLE: "double",
  DATE: "date",
  TIMESTAMP: "timestamp",
};

/** The first id of a table's additional columns. Ids below it are reserved for attributes of listings. */
const firstAddedId = 61;

/** The id of the column that holds the partition. It follows no column's place, so that columns can be added. */
const partitionColumnId = 100;

/** The id of a partition field, which Iceberg counts from 1000. */
export const partitionFieldId = 1000;

/** How a table is partitioned: the column exists in the paths of its files only, and in Iceberg's manifests. */
export interface IcebergPartition {
  readonly column: string;
  readonly columnId: number;
}

/** Returns how a table is partitioned; undefined if it is not. Months are text such as `2026-11`. */
export function partitionOf(table: IcebergTable): IcebergPartition | undefined {
  const column = tableOf(table).partition;
  if (column === undefined) return undefined;
  return { column, columnId: partitionColumnId };
}

/** Returns the fields of a table: its columns in file order, then its partition. */
export function fieldsOf(table: IcebergTable): readonly IcebergField[] {
  const all = Object.entries(tableOf(table).columns);
  const isListings = "build_key" in tableOf(table).columns && "dealer_key" in tableOf(table).columns;
  const added = isListings ? all.filter(([name]) => !(name in listingColumns)).map(([name]) => name) : [];
  const idOf = (name: string, index: number): number =>
    added.includes(name) ? firstAddedId + added.indexOf(name) : index + 1;
  const columns = all.map(([name, type], index) => fieldOf(idOf(name, index), name, type));
  const partition = partitionOf(table);
  if (partition === undefined) return columns;
  return [...columns, { id: partition.columnId, name: partition.column, required: false, type: "string" }];
}

const fieldOf = (id: number, name: string, type: DuckType): IcebergField => ({
  id,
  name,
  required: false,
  type: typeOf(id, type),
});

/** Returns the Iceberg type of a DuckDB type. Throws for a type that Iceberg lacks. */
function typeOf(id: number, type: DuckType): IcebergType {
  if (typeof type !== "string") {
    const firstId = id * 100 + 1;
    if ("items" in type)
      return { type: "list", "element-id": firstId, "element-required": false, element: typeOf(firstId, type.items) };
    return { type: "struct", fields: type.fields.map(([name, field], index) => fieldOf(firstId + index, name, field)) };
  }
  const simple = simpleTypes[type];
  if (simple !== undefined) return simple;
  if (/^DECIMAL\(\d+,\s*\d+\)$/.test(type)) return type.toLowerCase().replace(/,\s*/, ", ");
  throw new TypeError(`Invalid type ${type}: expected one that Iceberg has.`);
}

/** Returns the field ids of a table's columns, as COPY takes them. */
export const fieldIdsOf = (table: IcebergTable): Sql => {
  const columns = fieldsOf(table).filter(({ id }) => id !== partitionOf(table)?.columnId);
  return sql`{${join(columns.map(fieldIds))}}`;
};

/** Returns a field's id with those within it. */
function fieldIds({ id, name, type }: Pick<IcebergField, "id" | "name" | "type">): Sql {
  const own = integerLiteral(id);
  if (typeof type === "string") return sql`${ident(name)}: ${own}`;
  const inner = type.type === "list" ? [{ id: type["element-id"], name: "element", type: type.element }] : type.fields;
  return sql`${ident(name)}: {__duckdb_field_id: ${own}, ${join(inner.map(fieldIds))}}`;
}

/** Returns the greatest id of the fields and of those within them. */
export function greatestId(fields: readonly IcebergField[]): number {
  const idsIn = ({ "field-id": id, fields: inner = [] }: MappedField): readonly number[] => [
    id,
    ...inner.flatMap(idsIn),
  ];
  return Math.max(...nameMapping(fields).flatMap(idsIn));
}

/** Returns the mapping of field ids to column names, the property `schema.name-mapping.default` of a table. */
export const nameMapping = (fields: readonly IcebergField[]): readonly MappedField[] =>
  fields.map(({ id, name, type }) => mappedField(id, name, type));

function mappedField(id: number, name: string, type: IcebergType): MappedField {
  if (typeof type === "string") return { "field-id": id, names: [name] };
  const fields =
    type.type === "list" ? [mappedField(type["element-id"], "element", type.element)] : nameMapping(type.fields);
  return { "field-id": id, names: [name], fields };
}

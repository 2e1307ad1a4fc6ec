/**
 * Schemas of the lake's tables in Apache Iceberg's types, derived from `tables.ts`. The Parquet files have their field ids.
 *
 * Field ids never change: an attribute's column has the number of its position from 1, what a table adds to the columns of listings follows from 61,
 * and the n-th field within a column or field has its id followed by n in two digits. Columns are therefore only added at the end.
 */
import type { DuckType } from "../../db/duck-type.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { listingColumns, type TableName, tableOf } from "../tables.ts";

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

/** The id of the column that holds the partition, text such as `2026-11`. It follows no column's position, so that columns can be added. */
export const partitionColumnId = 100;

/** The id of a partition field, which Iceberg counts from 1000. */
export const partitionFieldId = 1000;

/** Returns the fields of a table: its columns in file order, then its partition, which only paths and manifests have. */
export function fieldsOf(table: TableName): readonly IcebergField[] {
  const all = Object.entries(tableOf(table).columns);
  const isListings = "build_key" in tableOf(table).columns && "dealer_key" in tableOf(table).columns;
  const added = isListings ? all.filter(([name]) => !(name in listingColumns)).map(([name]) => name) : [];
  const idOf = (name: string, index: number): number =>
    added.includes(name) ? firstAddedId + added.indexOf(name) : index + 1;
  const columns = all.map(([name, type], index) => fieldOf(idOf(name, index), name, type));
  const { partition } = tableOf(table);
  return partition === undefined ? columns : [...columns, fieldOf(partitionColumnId, partition, "VARCHAR")];
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
export const fieldIdsOf = (table: TableName): Sql => {
  const columns = fieldsOf(table).filter(({ id }) => id !== partitionColumnId);
  return sql`{${join(columns.map(fieldIds))}}`;
};

/** Returns a field's id with those within it. */
function fieldIds(field: IcebergField): Sql {
  const id = integerLiteral(field.id);
  const inner = fieldsWithin(field);
  if (inner.length === 0) return sql`${ident(field.name)}: ${id}`;
  return sql`${ident(field.name)}: {__duckdb_field_id: ${id}, ${join(inner.map(fieldIds))}}`;
}

/** Returns the fields of a struct, or the element of a list, which Parquet files call `element`. */
function fieldsWithin({ type }: IcebergField): readonly IcebergField[] {
  if (typeof type === "string") return [];
  if (type.type === "struct") return type.fields;
  return [{ id: type["element-id"], name: "element", required: false, type: type.element }];
}

/** Returns the ids of fields and of those within them. */
export const idsOf = (fields: readonly IcebergField[]): readonly number[] =>
  fields.flatMap((field) => [field.id, ...idsOf(fieldsWithin(field))]);

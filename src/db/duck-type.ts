/** Types of DuckDB as trees: the text of a type without elements or fields, such as `DECIMAL(9,2)`, or a list or struct. */
export type DuckType = string | ListType | StructType;

interface ListType {
  readonly items: DuckType;
  /** The number of elements of an ARRAY; absent for a list. */
  readonly length?: number;
}

interface StructType {
  readonly fields: readonly (readonly [name: string, type: DuckType])[];
}

export const listTypeOf = (items: DuckType): ListType => ({ items });

export const structTypeOf = (fields: Readonly<Record<string, DuckType>>): StructType => ({
  fields: Object.entries(fields),
});

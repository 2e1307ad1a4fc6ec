/** How a mapping uses the columns of a file. */
import { matchingColumns } from "../mapping/column-matching.ts";
import type { Mapping, Rule } from "../mapping/rules.ts";
import { columnNameOf } from "./known-columns.ts";

/** Returns each column that a mapping names, with what it fills: `price`, `dealer`, `dealer.city`. */
function namedColumns({ fields, dealer }: Mapping): readonly (readonly [column: string, field: string])[] {
  const ofRule = (field: string, { from }: Rule) =>
    from.map((source) => [columnNameOf(source), field] as const).filter(([column]) => column !== "");
  return [
    ...Object.entries(fields).flatMap(([field, rule]) => ofRule(field, rule)),
    ...dealer.key.flatMap((rule) => ofRule("dealer", rule)),
    ...Object.entries(dealer.fields).flatMap(([field, rule]) => ofRule(`dealer.${field}`, rule)),
  ];
}

/** Returns the fields that each column of a file fills by a mapping. */
export function fieldsByColumn(
  mapping: Mapping | undefined,
  columns: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, field] of mapping === undefined ? [] : namedColumns(mapping))
    for (const column of matchingColumns(columns, name)) {
      const known = fields.get(column) ?? [];
      if (!known.includes(field)) fields.set(column, [...known, field]);
    }
  return fields;
}

/** Returns the columns that a mapping names and a file lacks, with what they fill and the columns of the file that still fill it. */
export function absentColumns(mapping: Mapping, columns: readonly string[]) {
  const used = fieldsByColumn(mapping, columns);
  const absent = namedColumns(mapping).filter(([name]) => matchingColumns(columns, name).length === 0);
  return [...new Map(absent.map((pair) => [pair.join("\n"), pair])).values()].map(([column, field]) => ({
    ...{ column, field, others: columns.filter((other) => used.get(other)?.includes(field)) },
  }));
}

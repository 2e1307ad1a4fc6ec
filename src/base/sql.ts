/**
 * SQL as a value. Everything in `${}` is a value of the statement; only an `Sql` splices.
 *
 * No function of this project takes a SQL string: text and values travel together from the tagged template to the door of
 * an engine, which binds them or writes each as a literal of its type, so that no value can become SQL.
 */

/** What can be a value. A list is one value, a VARCHAR[] or a BIGINT[]. */
export type Value = string | number | bigint | boolean | null | readonly string[] | readonly number[];

/** A piece of SQL: `texts` has one item more than `values`; between two texts stands a value. */
export class Sql {
  constructor(
    readonly texts: readonly string[],
    readonly values: readonly Value[],
  ) {}

  /** The text with its parameters numbered $1, $2, ... */
  get text(): string {
    return this.texts.reduce((text, part, index) => `${text}$${index}${part}`);
  }
}

/** A piece of SQL from a template; holes are values, unless they are pieces of SQL themselves. */
export function sql(parts: TemplateStringsArray, ...holes: readonly (Sql | Value)[]): Sql {
  const texts: string[] = [parts[0] ?? ""];
  const values: Value[] = [];
  holes.forEach((hole, index) => {
    const pieces = hole instanceof Sql ? hole : new Sql(["", ""], [hole]);
    texts.push(`${texts.pop() ?? ""}${pieces.texts[0] ?? ""}`, ...pieces.texts.slice(1));
    values.push(...pieces.values);
    texts.push(`${texts.pop() ?? ""}${parts[index + 1] ?? ""}`);
  });
  return new Sql(texts, values);
}

/** Columns of a table, each by its name. */
export const columnsOf = <Column extends string>(
  table: string,
  columns: readonly Column[],
): Readonly<Record<Column, Sql>> =>
  Object.fromEntries(columns.map((column) => [column, name(table, column)])) as Record<Column, Sql>;

/** An identifier, always quoted: `trim`, `version` and others are keywords in places. */
export function name(...path: readonly string[]): Sql {
  return new Sql([path.map((part) => `"${part.replaceAll('"', '""')}"`).join(".")], []);
}

/** A text as a literal, for statements that take nothing else (ATTACH) or are written down (views). */
export function literal(text: string): Sql {
  return new Sql([`'${text.replaceAll("'", "''")}'`], []);
}

/** The name of a column type, from the lake's layout. */
export function type(columnType: string): Sql {
  return new Sql([columnType], []);
}

/** Pieces in a row, with a separator between them; nothing gives an empty piece. */
export function join(pieces: Iterable<Sql>, separator: Sql = sql`, `): Sql {
  return [...pieces].reduce((all, piece, index) => (index === 0 ? piece : sql`${all}${separator}${piece}`), sql``);
}

/** All of the conditions, as one condition; of none, true. */
export function all(conditions: Iterable<Sql>): Sql {
  const list = [...conditions];
  return list.length === 0 ? sql`true` : sql`((${join(list, sql`) AND (`)}))`;
}

/** One or more of the conditions, as one condition; of none, false. */
export function any(conditions: Iterable<Sql>): Sql {
  const list = [...conditions];
  return list.length === 0 ? sql`false` : sql`((${join(list, sql`) OR (`)}))`;
}

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
  Object.fromEntries(columns.map((column) => [column, ident(table, column)])) as Record<Column, Sql>;

/** An identifier, always quoted: `trim`, `version` and others are keywords in places. */
export function ident(...path: readonly string[]): Sql {
  return new Sql([path.map((part) => `"${part.replaceAll('"', '""')}"`).join(".")], []);
}

/** A text as a literal, for statements that take nothing else (ATTACH) or are written down (views). */
export function literal(text: string): Sql {
  return new Sql([`'${text.replaceAll("'", "''")}'`], []);
}

/** A DuckDB column type, for example `DECIMAL(9,4)` or `INTEGER[]`. Throws a TypeError if the text has other characters. */
export function columnType(text: string): Sql {
  if (!/^[A-Za-z][\w (),[\]]*$/.test(text))
    throw new TypeError(`Invalid column type ${text}: expected words and brackets.`);
  return new Sql([text], []);
}

/** A whole number as a literal, which has the narrowest type that holds it. Throws a TypeError for all other numbers. */
export function integerLiteral(number: number | bigint): Sql {
  if (typeof number === "number" && !Number.isSafeInteger(number))
    throw new TypeError(`Invalid integer ${number}: expected a safe integer.`);
  return signed(number);
}

/** A number as a literal. Throws a TypeError for NaN and the infinities. */
export function numberLiteral(number: number): Sql {
  if (!Number.isFinite(number)) throw new TypeError(`Invalid number ${number}: expected a finite number.`);
  return signed(number);
}

/** Negative numbers are in parentheses: two minus signs in a row begin a comment. */
const signed = (number: number | bigint): Sql => new Sql([number < 0 ? `(${number})` : `${number}`], []);

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

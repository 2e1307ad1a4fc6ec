/**
 * Composable SQL that cannot be injected into. In the `sql` tag, `${value}` is a parameter and `${fragment}`, itself an `Sql`, splices.
 *
 * No function takes SQL as a string. Text and values stay separate until an engine binds the values or renders each as a typed literal.
 */
import { printable, UserError } from "../base/user-error.ts";
import type { DuckType } from "./duck-type.ts";

/** A parameter. An array is one value, a VARCHAR[] or a BIGINT[]. */
export type Value = string | number | bigint | boolean | null | readonly string[] | readonly number[];

/** A value that an engine cannot bind. */
export class InvalidValue extends TypeError {
  override readonly name = "InvalidValue";
}

/** An SQL fragment. `texts` has one item more than `values`; `values[i]` stands between `texts[i]` and `texts[i + 1]`. */
export class Sql {
  constructor(
    readonly texts: readonly string[],
    readonly values: readonly Value[],
  ) {}

  /** The text with numbered parameters: $1, $2, ... */
  get text(): string {
    return this.texts.reduce((text, part, index) => `${text}$${index}${part}`);
  }
}

/** Template tag: returns a fragment in which each substitution is a parameter or, if it is an `Sql`, spliced. */
export function sql(parts: TemplateStringsArray, ...substitutions: readonly (Sql | Value)[]): Sql {
  // Keeps the texts themselves, by which a prepared statement is found again.
  if (!substitutions.some((one) => one instanceof Sql)) return new Sql(parts, substitutions as readonly Value[]);
  const texts: string[] = [parts[0] ?? ""];
  const values: Value[] = [];
  substitutions.forEach((substitution, index) => {
    const fragment = substitution instanceof Sql ? substitution : new Sql(["", ""], [substitution]);
    texts.push(`${texts.pop() ?? ""}${fragment.texts[0] ?? ""}`, ...fragment.texts.slice(1));
    values.push(...fragment.values);
    texts.push(`${texts.pop() ?? ""}${parts[index + 1] ?? ""}`);
  });
  return new Sql(texts, values);
}

/** Returns the qualified identifiers of a table's columns, by column name. */
export const columnsOf = <Column extends string>(
  table: string,
  columns: readonly Column[],
): Readonly<Record<Column, Sql>> =>
  Object.fromEntries(columns.map((column) => [column, ident(table, column)])) as Record<Column, Sql>;

/** A quoted identifier, qualified if it has several parts. Quoting is needed: `trim`, `version` and others are keywords. */
export function ident(...path: readonly string[]): Sql {
  return new Sql([path.map((part) => `"${part.replaceAll('"', '""')}"`).join(".")], []);
}

/** An identifier without quotes, for schemas that must equal those of earlier releases. Throws a TypeError for other characters than a word's. */
export function plainIdent(name: string): Sql {
  if (!/^[a-z]\w*$/.test(name)) throw new TypeError(`Invalid identifier ${name}: expected one word.`);
  return new Sql([name], []);
}

/** A string literal, for statements that accept no parameters (ATTACH) or are stored (views). */
export function literal(text: string): Sql {
  return new Sql([`'${text.replaceAll("'", "''")}'`], []);
}

/**
 * A string literal of the path of one file, for COPY and ATTACH. DuckDB expands a leading `~`, and takes a word before a colon for the
 * name of an extension.
 */
export const fileLiteral = (path: string): Sql => literal(/^~|^\w{2,}:/.test(path) ? `./${path}` : path);

/**
 * A string literal of a path that a function of DuckDB reads (`read_csv`, `read_parquet`, ...). These functions expand patterns, so each
 * special character becomes a bracket expression. Throws a UserError for a path with a backslash too, which has no such form.
 */
export function pathLiteral(path: string): Sql {
  if (!/[*?[]/.test(path)) return fileLiteral(path);
  if (path.includes("\\"))
    throw new UserError(`Invalid path ${printable(path)}: expected no backslash in a path with *, ? or [.`);
  return fileLiteral(path.replaceAll(/[*?[]/g, "[$&]"));
}

/** A DuckDB column type, for example `DECIMAL(9,4)` or `INTEGER[]`. Throws a TypeError if its text has other characters. */
export function columnType(type: DuckType): Sql {
  if (typeof type !== "string") {
    if ("items" in type)
      return sql`${columnType(type.items)}[${type.length === undefined ? sql`` : integerLiteral(type.length)}]`;
    return sql`STRUCT(${join(type.fields.map(([name, field]) => sql`${ident(name)} ${columnType(field)}`))})`;
  }
  if (!/^[A-Za-z][\w (),[\]]*$/.test(type))
    throw new TypeError(`Invalid column type ${type}: expected words and brackets.`);
  return new Sql([type], []);
}

/** An integer literal, in the narrowest type that fits. Throws a TypeError for any other number. */
export function integerLiteral(number: number | bigint): Sql {
  if (typeof number === "number" && !Number.isSafeInteger(number))
    throw new TypeError(`Invalid integer ${number}: expected a safe integer.`);
  return signed(number);
}

/** A numeric literal. Throws a TypeError for NaN and infinities. */
export function numberLiteral(number: number): Sql {
  if (!Number.isFinite(number)) throw new TypeError(`Invalid number ${number}: expected a finite number.`);
  return signed(number);
}

/** Parenthesizes negative numbers: two consecutive minus signs start a comment. */
const signed = (number: number | bigint): Sql => new Sql([number < 0 ? `(${number})` : `${number}`], []);

/** Joins fragments with a separator. Returns an empty fragment for none. */
export function join(fragments: Iterable<Sql>, separator: Sql = sql`, `): Sql {
  const texts = [""];
  const values: Value[] = [];
  for (const part of [...fragments].flatMap((fragment, index) => (index === 0 ? [fragment] : [separator, fragment]))) {
    texts.push(`${texts.pop() ?? ""}${part.texts[0] ?? ""}`, ...part.texts.slice(1));
    values.push(...part.values);
  }
  return new Sql(texts, values);
}

/** Conjunction (AND) of conditions; true for none. */
export function all(conditions: Iterable<Sql>): Sql {
  const list = [...conditions];
  return list.length === 0 ? sql`true` : sql`((${join(list, sql`) AND (`)}))`;
}

/** Disjunction (OR) of conditions; false for none. */
export function any(conditions: Iterable<Sql>): Sql {
  const list = [...conditions];
  return list.length === 0 ? sql`false` : sql`((${join(list, sql`) OR (`)}))`;
}

/**
 * The text form of an answer, for clients that do not pass structured content to their model: rows as CSV without empty columns, single
 * objects as lines of `name: value`. It holds the same values in about a third of the characters.
 */
import { isRow, type Json, type Row } from "../base/json.ts";
import type { OperationId } from "../contract/types.ts";
import { encodeCsv } from "../formats/table-formats.ts";
import { tableRowsOf } from "../operations/result.ts";

/** A response body: `data`, and what surrounds it. */
export interface AnswerBody {
  readonly data: Json;
  readonly pagination?: PagePosition;
  /** Says which part was left out, and how to get it. */
  readonly note?: string;
  readonly [name: string]: Json | undefined;
}

/** Schemas `Pagination` and `ChangePagination`. */
type PagePosition = {
  readonly limit: number;
  /** Undefined of pages that only follow each other, as are all members except cursors. */
  readonly offset?: number;
  readonly total?: number;
  readonly next_offset?: number | null;
  readonly next_cursor?: string | null;
};

export function compactText(id: OperationId, { data, pagination, note, meta = null, ...rest }: AnswerBody): string {
  const rows = tableRowsOf(id, data) ?? (isRows(data) ? data : undefined);
  const { unmatched = [], ...facts } = isRow(meta) ? meta : {};
  const parts = [
    note,
    isRows(unmatched) ? unmatched.map(unmatchedLineOf).join("\n") : undefined,
    pagination === undefined ? undefined : positionOf(pagination, rows?.length ?? 0),
    rows === undefined ? linesOf(data) : tableOf(rows),
    linesOf(withoutUndefined({ ...rest, meta: facts })),
  ];
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

/** Returns a sentence about a value that the data has never had, schema `UnmatchedValue`. */
function unmatchedLineOf({ parameter, value, did_you_mean: meant }: Row): string {
  const line = `No listing has ever had ${String(parameter)} ${JSON.stringify(value)}`;
  return meant === undefined ? `${line}.` : `${line}: did you mean ${JSON.stringify(meant)}?`;
}

function positionOf({ offset, total, next_offset, next_cursor }: PagePosition, items: number): string {
  if (offset === undefined) return next_cursor == null ? "This is the last page." : `Next page: cursor=${next_cursor}.`;
  if (items === 0) return `${total} matches; no items from offset=${offset} on.`;
  const next = next_offset == null ? "This is the last page." : `Next page: offset=${next_offset}.`;
  return `${total} matches; items ${offset + 1} to ${offset + items}. ${next}`;
}

/** Returns rows as CSV, without the columns that are empty in all of them. */
function tableOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const known = names.filter((name) => rows.some((row) => row[name] !== null && row[name] !== undefined));
  if (known.length === 0) return "";
  const columns = known.map((name) => ({ name, type: { kind: "text" }, isNullable: true }) as const);
  return encodeCsv({ columns, rows }, true).replaceAll("\r\n", "\n").trimEnd();
}

/** Returns an object as lines, with the paths of its members. Unknown members share the last line. */
function linesOf(value: Json): string {
  const unknown: string[] = [];
  const lines = membersOf(value, "").flatMap(([path, member]) => {
    if (member === null) unknown.push(path);
    if (member === null || (isList(member) && member.length === 0)) return [];
    if (!isList(member)) return [`${path}: ${String(member)}`];
    return [isRows(member) ? `${path}:\n${tableOf(member)}` : `${path}: ${member.join(", ")}`];
  });
  return [...lines, ...(unknown.length === 0 ? [] : [`unknown: ${unknown.join(", ")}`])].join("\n");
}

/** Returns the scalars and lists of an object, with their paths. */
function membersOf(value: Json, path: string): readonly (readonly [path: string, member: Json])[] {
  if (!isRow(value)) return path === "" ? [] : [[path, value]];
  return Object.entries(withoutUndefined(value)).flatMap(([name, member]) =>
    membersOf(member, path === "" ? name : `${path}.${name}`),
  );
}

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

const isRows = (value: Json): value is readonly Row[] => Array.isArray(value) && value.every(isRow);

const withoutUndefined = (value: Readonly<Record<string, Json | undefined>>): Row =>
  Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, member]])));

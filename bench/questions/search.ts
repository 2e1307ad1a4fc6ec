/** Questions that are answered with a page or one listing, with all that is shown of it. */

import { type ColumnName, shown } from "../dataset/columns.ts";
import type { Relation } from "../dataset/flat-rows.ts";
import { assertSameAnswer } from "../measure/agree.ts";
import { type Dialect, type SqlPeer, text } from "../peers/peer.ts";
import { conditionOf, parametersOf, type QuestionFilter } from "./filter.ts";
import { at, type LookUp, listAt, type Question, type Search } from "./question.ts";

export interface SearchOptions {
  readonly filters?: readonly QuestionFilter[];
  readonly sort?: Search["sort"];
  readonly path?: string;
  /** Parameters that are not filters. */
  readonly query?: readonly string[];
  readonly from?: Relation;
  readonly offset?: number;
  /** Columns that are shown besides. */
  readonly more?: readonly ColumnName[];
}

const limit = 50;
const defaultSort = "days_on_market";

/** A page of listings: a count and a page in SQL. */
export function searchQuestion({ path = "/v1/listings", query = [], more = [], ...options }: SearchOptions): Question {
  const subject: Search = {
    ...{ kind: "search", from: "active", filters: [], sort: defaultSort, offset: 0, limit },
    ...options,
    columns: [...shown, ...more],
  };
  const sorted = subject.sort === defaultSort ? [] : [`sort=${subject.sort}`];
  const parameters = [...parametersOf(subject.filters), ...query, ...sorted].join("&");
  const asked = parameters === "" ? path : `${path}?${parameters}`;
  return {
    path: asked,
    subject,
    ask: (peer) => askSearch(subject, peer),
    compare: (ours, theirs, { name }) => {
      assertSameAnswer(asked, essenceOf(ours), name, essenceOf(theirs));
      return 0;
    },
    rows: totalIn,
  };
}

const totalIn = (body: unknown): number => Number(at(body, "pagination", "total"));

const essenceOf = (body: unknown) => ({
  total: totalIn(body),
  ids: listAt(body, "data").map((listing) => String(at(listing, "id"))),
});

async function askSearch({ from, filters, sort, offset, columns }: Search, peer: SqlPeer): Promise<object> {
  const where = conditionOf(filters, peer.dialect, from);
  const total = await questionTotal(peer, from, where);
  const order = orderOf(sort, filters, peer.dialect);
  const data = await peer.rows(peer.dialect.page({ columns, from, where, order, limit, offset }));
  return { data, pagination: { limit, offset, total } };
}

/** Distances are compared by thousandths of a mile, so that an engine's rounding does not change the order. */
function orderOf(sort: Search["sort"], filters: readonly QuestionFilter[], dialect: Dialect): string {
  return sort === "distance" ? `round(1000 * (${dialect.miles(questionOrigin(filters))}))` : sort;
}

/** The origin of the filter by distance. */
export function questionOrigin(filters: readonly QuestionFilter[]) {
  const near = filters.find((filter) => filter.kind === "near");
  if (near === undefined) throw new Error("A distance needs a filter by distance.");
  return near.zip;
}

/** Counts the listings of a relation that meet a condition in SQL. */
export async function questionTotal(peer: SqlPeer, from: Relation, where: string): Promise<number> {
  const [row] = await peer.rows(`SELECT count(*) AS total FROM ${from} WHERE ${where}`);
  return Number(row?.total);
}

/** One listing, by its id or VIN. */
export function lookUp(by: LookUp["by"], value: string): Question {
  const [folder, idAt] =
    by === "id" ? ["/v1/listings", ["data", "id"]] : ["/v1/vins", ["data", "latest_listing", "id"]];
  const [path, columns] = [`${folder}/${value}`, [...shown, "options_packages"] as const];
  const idOf = (body: unknown): string => String(at(body, ...idAt));
  return {
    path,
    subject: { kind: "lookUp", by, value, columns },
    ask: async ({ rows, dialect }) => {
      const where = `${by} = ${text(value)}`;
      const page = { columns, from: "active", where, order: "position", limit: 1, offset: 0 } as const;
      const [listing] = await rows(dialect.page(page));
      return foundBy(by, listing);
    },
    compare: (ours, theirs, { name }) => {
      assertSameAnswer(path, idOf(ours), name, idOf(theirs));
      return 0;
    },
    rows: () => 1,
  };
}

/** The body of a look-up. */
export const foundBy = (by: LookUp["by"], listing: unknown): object => ({
  data: by === "id" ? listing : { latest_listing: listing },
});

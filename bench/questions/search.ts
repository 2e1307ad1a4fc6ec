/** Questions that are answered with a page: the total, and the rows of the page with all that is shown of them. */
import { type ColumnName, shown } from "../columns.ts";
import type { Relation } from "../flat.ts";
import { type Dialect, type Peer, text } from "../peers/peer.ts";
import { at, listAt, type Question } from "./question.ts";

/** A condition in SQL: the same for every engine, or in an engine's own words. */
export type Condition = string | ((dialect: Dialect) => string);

export interface Search {
  readonly query: string;
  readonly path?: string;
  readonly from?: Relation;
  readonly where?: Condition;
  /** Days on market, unless given. */
  readonly order?: Condition;
  readonly offset?: number;
  /** What is shown besides. */
  readonly more?: readonly ColumnName[];
}

export const inWords = (condition: Condition, dialect: Dialect): string =>
  typeof condition === "string" ? condition : condition(dialect);

const limit = 50;

/** A page of listings: a count and a page in SQL. */
export function search({
  query,
  path = "/v1/listings",
  from = "active",
  order = "days_on_market",
  ...rest
}: Search): Question {
  const { where = "true", offset = 0, more = [] } = rest;
  return {
    path: query === "" ? path : `${path}?${query}`,
    ask: async (peer) => {
      const condition = inWords(where, peer.dialect);
      const total = await totalOf(peer, from, condition);
      const data = await peer.rows(
        peer.dialect.page({
          ...{ columns: [...shown, ...more], from, limit, offset },
          ...{ where: condition, order: inWords(order, peer.dialect) },
        }),
      );
      return { data, pagination: { limit, offset, total } };
    },
    essence: (body) => ({
      total: Number(at(body, "pagination", "total")),
      ids: listAt(body, "data").map((listing) => String(at(listing, "id"))),
    }),
    rows: (body) => Number(at(body, "pagination", "total")),
  };
}

export async function totalOf(peer: Peer, from: Relation, where: string): Promise<number> {
  const [row] = await peer.rows(`SELECT count(*) AS total FROM ${from} WHERE ${where}`);
  return Number(row?.total);
}

/** One listing, found by what names it. */
export function lookUp(by: "id" | "vin", value: string): Question {
  const [path, idAt] = by === "id" ? ["/v1/listings", ["data", "id"]] : ["/v1/vins", ["data", "latest_listing", "id"]];
  return {
    path: `${path}/${value}`,
    ask: async (peer) => {
      const columns = [...shown, "options_packages"] as const;
      const page = {
        columns,
        from: "active",
        where: `${by} = ${text(value)}`,
        order: "position",
        limit: 1,
        offset: 0,
      } as const;
      const [listing] = await peer.rows(peer.dialect.page(page));
      return { data: by === "id" ? listing : { latest_listing: listing } };
    },
    essence: (body) => String(at(body, ...idAt)),
    rows: () => 1,
  };
}

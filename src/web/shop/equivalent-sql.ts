/** The statement on the analysts' views of a lake that is equivalent to a search; for filters that columns can express. */
import {
  type AttributeName,
  attributeOf,
  attributes,
  categoryNames,
  rangedNames,
  ratings,
  textNames,
} from "../../listing/schema.ts";
import { listOf } from "./view.ts";

/** Returns the statement of a search; undefined for other operations, and for filters without an equivalent, such as distances. */
export function equivalentSql(request: { readonly path: string; readonly querystring: string } | undefined) {
  if (request?.path !== "/v1/listings") return undefined;
  const query = Object.fromEntries(new URLSearchParams(request.querystring));
  const { fields, sort, limit: limitMax, offset: start, ...filters } = query;
  const conditions = Object.entries(filters).map(([name, value]) => conditionOf(name, value));
  const order = sort === undefined ? "" : orderOf(sort);
  if (conditions.includes(undefined) || order === undefined) return undefined;
  const where = conditions.length === 0 ? "" : `\nWHERE ${conditions.join("\n  AND ")}`;
  const limit = limitMax === undefined ? "" : `\nLIMIT ${Number(limitMax)}`;
  const offset = start === undefined ? "" : `\nOFFSET ${Number(start)}`;
  const columns = fields?.split(",").filter((name) => Object.hasOwn(attributes, name));
  return `SELECT ${columns?.join(", ") ?? "*"}\nFROM active${where}${order}${limit}${offset}`;
}

/** Returns the condition of a filter in SQL; undefined if no column expresses it. */
function conditionOf(parameter: string, value: string): string | undefined {
  const [, isExcluded, name = ""] = /^(exclude_)?(.*)$/.exec(parameter) ?? [];
  const category = [...categoryNames, ...textNames].find((one) => one === name);
  if (category !== undefined) {
    const condition = categoryCondition(category, listOf({ [parameter]: value }, parameter));
    return isExcluded === undefined ? condition : `(${condition}) IS NOT TRUE`;
  }
  const [, bound, range] = /^(min|max)_(.*)$/.exec(parameter) ?? [];
  const ranged = rangedNames.find((one) => attributes[one].range === range);
  if (ranged === undefined || !/^-?\d+(\.\d+)?$/.test(value)) return undefined;
  return `${ranged} ${bound === "min" ? ">=" : "<="} ${value}`;
}

/** Names match in any case and without punctuation, other values in any case. */
function categoryCondition(name: AttributeName, values: readonly string[]): string {
  const { type, search } = attributeOf(name);
  if (type !== "VARCHAR") return `${name} IN (${values.map((value) => String(Number(value))).join(", ")})`;
  const lower = values.map((value) => value.toLowerCase());
  if (search !== "name" || lower.every((value) => /^[a-z0-9]+$/.test(value)))
    return `lower(${name}) IN (${lower.map(sqlText).join(", ")})`;
  const plain = lower.map((value) => sqlText(value.replaceAll(/[^\p{L}\p{N}]/gu, "")));
  return `regexp_replace(lower(${name}), '[^\\p{L}\\p{N}]', '', 'g') IN (${plain.join(", ")})`;
}

/** Returns the order of a sort by a served column, or by the rating of prices. */
function orderOf(sort: string): string | undefined {
  const column = sort.replace(/^-/, "");
  const direction = sort.startsWith("-") ? " DESC" : "";
  if (sort === "value")
    return `\nORDER BY list_position([${ratings.map(sqlText).join(", ")}], value_rating) NULLS LAST, price_to_value NULLS LAST`;
  return Object.hasOwn(attributes, column) ? `\nORDER BY ${column}${direction} NULLS LAST` : undefined;
}

/** Returns a text as SQL. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

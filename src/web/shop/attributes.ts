/** How attributes of listings are shown: their titles, and their values as text. */
import { type AttributeName, attributeOf } from "../../listing/schema.ts";
import { day, decimal, dollars, percent, text } from "../shell/format.ts";

/** Returns what people call an attribute. */
export const titleOf = (name: AttributeName): string => attributeOf(name).title ?? name.replaceAll("_", " ");

/** Returns a value of an attribute as text; a dash if it is unknown. */
export function valueText(name: AttributeName, value: unknown): string {
  const { search, type, unit } = attributeOf(name);
  if (typeof value === "number") {
    if (unit !== undefined) return unit === "dollars" ? dollars(value) : percent(value);
    return search === "number" ? decimal(value) : text(value);
  }
  return typeof value === "string" ? (type === "DATE" ? day(value) : text(value)) : text(null);
}

/** Conditions of cars, in words. */
export const conditions: ReadonlyMap<string, string> = new Map([
  ["new", "New"],
  ["used", "Used"],
  ["certified", "Certified"],
]);

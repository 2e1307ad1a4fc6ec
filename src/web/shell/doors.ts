/** The five doors of the application: the parts that its bar leads to, each with its tint. */
import type { Visitor } from "./visitor.ts";

const links = [
  { door: "shop", path: "/shop", text: "Shop", icon: "shop" },
  { door: "lot", path: "/dealers", text: "My lot", icon: "lot" },
  { door: "market", path: "/market", text: "Market", icon: "market" },
  { door: "build", path: "/docs", text: "Build", icon: "build" },
  { door: "operate", path: "/operate", text: "Operate", icon: "operate" },
] as const;

export type DoorLink = (typeof links)[number];

/** The door that a page belongs to; the pages of an account are behind none of the five. */
export type Door = DoorLink["door"] | "account";

/** The class of the tint of each door. */
export const tints: Readonly<Record<Door, string>> = {
  shop: "sky",
  lot: "sand",
  market: "leaf",
  build: "lilac",
  operate: "rose",
  account: "sky",
};

/** The doors whose pages cost money. */
export const isPaid = (door: Door | undefined): boolean => door === "shop" || door === "lot" || door === "market";

/** Returns the doors that a visitor may open: all but `operate`, which operators open; without a visitor, the docs. */
export function doorsOf(visitor: Visitor | undefined): readonly DoorLink[] {
  if (visitor === undefined) return links.filter(({ door }) => door === "build");
  const isOperator = visitor.isOpen || visitor.identity.cached.account.isOperator;
  return links.filter(({ door }) => door !== "operate" || isOperator);
}

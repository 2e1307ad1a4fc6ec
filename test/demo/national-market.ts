/** A generated day of a market that is large enough for shares of states, read by several files. */
import { join } from "node:path";
import { defaultShares } from "../../src/demo/market-shape.ts";
import { generateFeeds, readCsv } from "../support/lakes/generated.ts";
import { groupScope } from "../support/scope.ts";

export const listings = 30_000;
const folder = await generateFeeds(groupScope, { listings, days: 1, shares: { ...defaultShares, dirt: 0 } });
export const inventory = await readCsv(join(folder, "2026-11-19", "inventory.csv"));
export const dealers = await readCsv(join(folder, "2026-11-19", "dealers.csv"));

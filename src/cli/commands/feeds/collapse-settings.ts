/** The settings by which a feed is collapsed, for commands that ingest. */
import { life } from "../../../listing/lifecycle-rules.ts";
import { integerParser, numberParser } from "../../option-parsers.ts";
import type { SettingRows } from "../../settings.ts";

const share = numberParser(0, 1);
const number = integerParser(1_000_000, 1);

// biome-ignore format: a table is read by its columns
export const collapseSettings = {
  collapsedShare: { flags: "--collapsed-share <share>", env: "CARQUET_COLLAPSED_SHARE", default: life.collapsedShare, parse: share,
    help: "hold a feed with fewer VINs than this share of the dealer's usual ones, from 0 to 1" },
  collapsedVinsMin: { flags: "--collapsed-min-vins <n>", env: "CARQUET_COLLAPSED_MIN_VINS", default: life.collapsedVinsMin, parse: number,
    help: "usual number of VINs from which that applies" },
  jumpedShare: { flags: "--jumped-share <share>", env: "CARQUET_JUMPED_SHARE", default: life.jumpedShare, parse: share,
    help: "hold a feed in which more than this share of the known prices jumped, from 0 to 1" },
  jumpFactor: { flags: "--jump-factor <factor>", env: "CARQUET_JUMP_FACTOR", default: life.jumpFactor, parse: numberParser(1, 1000),
    help: "factor by which a price rises or falls when it jumps, from 1 to 1000" },
  jumpedPricesMin: { flags: "--jumped-min-prices <n>", env: "CARQUET_JUMPED_MIN_PRICES", default: life.jumpedPricesMin, parse: number,
    help: "number of known prices from which that applies" },
  collapsedFeeds: { flags: "--collapsed-feeds <n>", env: "CARQUET_COLLAPSED_FEEDS", default: life.collapsedFeeds, parse: number,
    help: "accept the last of this many collapsed feeds in a row" },
} as const satisfies SettingRows;

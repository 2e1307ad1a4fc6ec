/** The quality report of a day, computed from the rows of feeds: for each check and feed, the VINs that it finds. */
import type { FeedRow } from "../../support/lakes/feeds.ts";

/** A day's feeds by dealer, each in the order of its rows; `firstRow` is the number of the first row in the file. */
export interface QualityDay {
  readonly day: string;
  readonly feeds: ReadonlyMap<string, { readonly firstRow: number; readonly rows: readonly FeedRow[] }>;
}

/** A row of the report. */
export interface ExpectedCheck {
  readonly key: string;
  readonly n: number;
  readonly share: number | null;
  readonly usual: number | null;
  readonly status: string;
  readonly examples: readonly string[];
}

/** The feed of the day, and those that say what is usual. */
const feedsMax = 8;

const margins: Readonly<Record<string, number>> = {
  prices: 0.1,
  rejected: 0.02,
  merged: 0.05,
  missing: 0.2,
  outlier: 0.02,
  shared: 0.05,
  elsewhere: 0.1,
  arrived: 0.25,
  left: 0.25,
  repriced: 0.25,
  price_jump: 0.02,
  miles_fell: 0.02,
};

export const comparedFields = ["trim", "price", "miles", "msrp", "stock_number", "vdp_url", "photo_urls"];

/** What each check finds of a feed, by check and field; and the feed's vehicles. */
interface JudgedRows {
  readonly found: ReadonlyMap<string, readonly string[]>;
  readonly vehicles: ReadonlyMap<string, FeedRow>;
}

const numberIn = (row: FeedRow | undefined, field: string): number | null =>
  row === undefined || row[field] === "" || row[field] === undefined ? null : Number(row[field]);

const isJump = (one: number | null, other: number | null): boolean =>
  one !== null && other !== null && Math.max(one, other) > 2 * Math.min(one, other);

function outliersOf(row: FeedRow): readonly string[] {
  const [price, msrp, miles] = ["price", "msrp", "miles"].map((field) => numberIn(row, field));
  const isNew = row.inventory_type === "new";
  const found = [] as string[];
  if (price != null && (price < 500 || (msrp != null && price > 1.5 * msrp))) found.push("price");
  if (miles != null && (miles > 300_000 || (isNew ? miles > 1000 : miles === 0))) found.push("miles");
  return found;
}

/** Judges a feed, given the vehicles of the dealer's feed before; null on the first day of the lake. */
function judge(
  { firstRow, rows }: { readonly firstRow: number; readonly rows: readonly FeedRow[] },
  before: ReadonlyMap<string, FeedRow> | null,
  isElsewhere: (vin: string) => boolean,
): JudgedRows {
  const found = new Map<string, string[]>();
  const find = (check: string, example: string): void => void found.set(check, [...(found.get(check) ?? []), example]);
  const vehicles = new Map<string, FeedRow>();
  const rowOf = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const vin = String(row.vin);
    if (vin.length !== 17) find("rejected vin: not 17 characters", `inventory.csv, row ${firstRow + index}: ${vin}`);
    else {
      const replaced = rowOf.get(vin);
      if (replaced !== undefined)
        find("merged vin: replaced by a later row of this VIN and dealer", `inventory.csv, row ${replaced}: ${vin}`);
      vehicles.set(vin, row);
      rowOf.set(vin, firstRow + index);
    }
  }
  for (const [vin, row] of vehicles) {
    for (const field of comparedFields) if ((row[field] ?? "") === "") find(`missing ${field}`, vin);
    for (const field of outliersOf(row)) find(`outlier ${field}`, vin);
    for (const field of ["stock_number", "vdp_url", "photo_urls"])
      if (row[field] !== "" && [...vehicles.values()].some((other) => other !== row && other[field] === row[field]))
        find(`shared ${field}`, vin);
    if (isElsewhere(vin)) find("elsewhere vin", vin);
    if (before === null) continue;
    const was = before.get(vin);
    if (was === undefined) find("arrived vin", vin);
    const price = numberIn(row, "price");
    const old = numberIn(was, "price");
    if (price !== null && old !== null && price !== old) find("repriced price", vin);
    if (isJump(price, old)) find("price_jump price", vin);
    if ((numberIn(row, "miles") ?? Number.POSITIVE_INFINITY) < (numberIn(was, "miles") ?? 0))
      find("miles_fell miles", vin);
  }
  for (const vin of before?.keys() ?? []) if (!vehicles.has(vin)) find("left vin", vin);
  return { found, vehicles };
}

const medianIn = (values: readonly number[]): number | null => {
  const sorted = [...values].sort((one, other) => one - other);
  if (sorted.length === 0) return null;
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2;
};

const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value * 10_000) / 10_000);

/** Returns the report of the last of some days. No feed of them collapses. `isElsewhere`: whether another dealer owns a VIN of a dealer's feed. */
export function expectedQuality(
  days: readonly QualityDay[],
  isElsewhere: (dealer: string, vin: string) => boolean,
): readonly ExpectedCheck[] {
  const today = days.at(-1);
  const dealers = [...new Set(days.flatMap(({ feeds }) => [...feeds.keys()]))];
  return dealers.flatMap((dealer) => {
    const judged: JudgedRows[] = [];
    for (const [index, { feeds }] of days.entries()) {
      const feed = feeds.get(dealer);
      const before = index === 0 ? null : (judged.at(-1)?.vehicles ?? new Map());
      if (feed !== undefined) judged.push(judge(feed, before, (vin) => isElsewhere(dealer, vin)));
    }
    if (today?.feeds.has(dealer) === true) return checksOf(dealer, judged);
    const last = days.findLast(({ feeds }) => feeds.has(dealer));
    const n = (Date.parse(today?.day ?? "") - Date.parse(last?.day ?? "")) / 86_400_000;
    return [{ key: `${dealer} silent vin`, n, share: null, usual: null, status: "warn", examples: [] }];
  });
}

function checksOf(dealer: string, all: readonly JudgedRows[]): readonly ExpectedCheck[] {
  const judged = all.slice(-feedsMax);
  const now = judged.at(-1);
  const earlier = judged.slice(0, -1);
  const names = [...new Set(judged.flatMap(({ found }) => [...found.keys()]))].filter(
    (name) => !name.startsWith("shared") || now?.found.has(name),
  );
  const checks = names.map((name): ExpectedCheck => {
    const shareOf = (rows: JudgedRows | undefined): number =>
      (rows?.found.get(name)?.length ?? 0) / (rows?.vehicles.size ?? 0);
    const [check = ""] = name.split(" ");
    const n = now?.found.get(name)?.length ?? 0;
    const share = shareOf(now);
    const usual = check === "shared" ? null : medianIn(earlier.map(shareOf));
    const isOdd = n >= 3 && share > (usual ?? (check === "missing" ? share : 0)) + (margins[check] ?? 0);
    const examples = [...(now?.found.get(name) ?? [])].sort().slice(0, 5);
    return {
      key: `${dealer} ${name}`,
      n,
      share: rounded(share),
      usual: rounded(usual),
      status: isOdd ? "warn" : "ok",
      examples,
    };
  });
  return [...checks, rowsCheck(dealer, judged), pricesCheck(dealer, all)];
}

function rowsCheck(dealer: string, judged: readonly JudgedRows[]): ExpectedCheck {
  const sizes = judged.map(({ vehicles }) => vehicles.size);
  const n = sizes.at(-1) ?? 0;
  const usual = medianIn(sizes.slice(0, -1));
  const isOdd = usual !== null && Math.abs(n - usual) >= Math.max(3, 0.3 * usual);
  const share = usual === null ? null : rounded(n / usual);
  return { key: `${dealer} rows vin`, n, share, usual, status: isOdd ? "warn" : "ok", examples: [] };
}

function pricesCheck(dealer: string, judged: readonly JudgedRows[]): ExpectedCheck {
  const jumps = judged.map(({ vehicles }, index) => {
    const known = [...vehicles].filter(([vin]) => numberIn(judged[index - 1]?.vehicles.get(vin), "price") !== null);
    const jumped = known.filter(([vin, row]) => {
      const price = numberIn(row, "price");
      const old = numberIn(judged[index - 1]?.vehicles.get(vin), "price");
      return price === null || isJump(price, old);
    });
    return { known: known.length, jumped: jumped.length };
  });
  const shares = jumps.map(({ known, jumped }) => (known === 0 ? null : jumped / known)).slice(-feedsMax);
  const n = jumps.at(-1)?.jumped ?? 0;
  const share = shares.at(-1) ?? null;
  const usual = medianIn(shares.slice(0, -1).filter((one) => one !== null));
  const isOdd = n >= 3 && (share ?? 1) > (usual ?? 0) + 0.1;
  return {
    key: `${dealer} prices price`,
    n,
    share: rounded(share),
    usual: rounded(usual),
    status: isOdd ? "warn" : "ok",
    examples: [],
  };
}

/** Oracle of dealer fit: medians of sales in plain JavaScript, by the formula of the documentation. */

/** A sold listing. Unknown values are null. */
export interface Sale {
  readonly vin: string;
  readonly dealer_id: string;
  readonly make: string | null;
  readonly model: string | null;
  readonly body_type: string | null;
  readonly inventory_type: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly days_on_market: number;
}

/** The market of a request: the dealers within `miles` of a place. */
export interface FitMarket {
  readonly latitude: number;
  readonly longitude: number;
  readonly miles: number;
}

interface ExpectedFit {
  readonly step: string;
  readonly market: { readonly sales: number; readonly median_days: number } | null;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly insufficient: number;
}

const ladder = [
  ["model", ["make", "model", "inventory_type"]],
  ["make_and_body", ["make", "body_type", "inventory_type"]],
] as const;

function medianDays(sales: readonly Sale[]): number {
  const sorted = sales.map(({ days_on_market }) => days_on_market).sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

/** Accepts the sales of dealers within the market, by the spherical law of cosines. */
const within =
  (market: FitMarket) =>
  ({ latitude, longitude }: Sale): boolean => {
    if (latitude === null || longitude === null) return false;
    const radians = (degrees: number): number => (degrees * Math.PI) / 180;
    const from = radians(market.latitude);
    const to = radians(latitude);
    const apart = radians(longitude - market.longitude);
    const cosine = Math.sin(from) * Math.sin(to) + Math.cos(from) * Math.cos(to) * Math.cos(apart);
    return 3958.7613 * Math.acos(Math.max(-1, Math.min(1, cosine))) <= market.miles;
  };

function speedOf(own: readonly Sale[], others: readonly Sale[]) {
  if (own.length < 3 || others.length < 10) return undefined;
  const median = medianDays(own);
  const ofMarket = medianDays(others);
  const expected = (own.length * median + 5 * ofMarket) / (own.length + 5);
  const relative = ofMarket === 0 ? null : Math.round((1000 * expected) / ofMarket) / 1000;
  return { sales: own.length, median_days: median, expected_days: Math.round(10 * expected) / 10, relative };
}

/** Returns sales by the values of columns, without those with an unknown one. */
function grouped(sales: readonly Sale[], columns: readonly (keyof Sale)[]): ReadonlyMap<string, readonly Sale[]> {
  const groups = new Map<string, Sale[]>();
  for (const sale of sales.filter((one) => columns.every((column) => one[column] !== null))) {
    const key = columns
      .map((column) => sale[column])
      .join("|")
      .toLowerCase();
    groups.set(key, [...(groups.get(key) ?? []), sale]);
  }
  return groups;
}

const firstRanked = (results: readonly ExpectedFit[]): ExpectedFit | undefined =>
  results.find(({ rows }) => rows.length > 0) ?? results.at(-1);

/** Returns the dealers that sell vehicles like a sold one, in any order. */
export const expectedDealers = (sales: readonly Sale[], subject: Sale, market: FitMarket): ExpectedFit | undefined =>
  firstRanked(
    ladder.map(([step, columns]) => {
      const isKnown = columns.every((column) => subject[column] !== null);
      const isLike = (sale: Sale): boolean => columns.every((column) => sale[column] === subject[column]);
      const like = isKnown ? sales.filter((sale) => isLike(sale) && within(market)(sale)) : [];
      const dealers = grouped(like, ["dealer_id"]);
      const rows = [...dealers.values()].flatMap((own) => {
        const speed = speedOf(own, like);
        return speed === undefined ? [] : [{ dealer_id: own[0]?.dealer_id, ...speed }];
      });
      const summary = like.length === 0 ? null : { sales: like.length, median_days: medianDays(like) };
      return { step, market: summary, rows, insufficient: dealers.size - rows.length };
    }),
  );

/** Returns what a dealer sells beside its market, in any order, each with its attributes as `key`. */
export const expectedModels = (sales: readonly Sale[], dealer: string, market: FitMarket): ExpectedFit | undefined =>
  firstRanked(
    ladder.map(([step, columns]) => {
      const isOwn = ({ dealer_id }: Sale): boolean => dealer_id === dealer;
      const own = grouped(sales.filter(isOwn), columns);
      const others = grouped(
        sales.filter((sale) => !isOwn(sale) && within(market)(sale)),
        columns,
      );
      const rows = [...own].flatMap(([key, mine]) => {
        const beside = others.get(key) ?? [];
        const speed = speedOf(mine, beside);
        const compared = { market_sales: beside.length, market_median_days: medianDays(beside) };
        return speed === undefined ? [] : [{ key, ...speed, ...compared }];
      });
      return { step, market: null, rows, insufficient: own.size - rows.length };
    }),
  );

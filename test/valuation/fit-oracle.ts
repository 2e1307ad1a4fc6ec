/** Oracle of the fit: section "The fit" of docs/valuation.md in JavaScript over all rows, without SQL. */
import type { Row } from "../../src/base/json.ts";
import { rules } from "../../src/valuation/rules.ts";

/** A vehicle as the fit sees it. An unknown trim or version is "", and options are null where they are to be those of its listings. */
export interface Vehicle {
  readonly isNew: boolean;
  readonly make: string;
  readonly model: string;
  readonly trim: string;
  readonly version: string;
  readonly year: number;
  readonly miles: number;
  readonly msrp: number | null;
  readonly body: string;
  readonly state: string;
  readonly certified: number;
  /** In dollars. */
  readonly options: number | null;
}

/** A vehicle for sale or sold. */
export interface PricedVehicle extends Vehicle {
  readonly id: string;
  readonly price: number;
  readonly isBranded: boolean;
}

export interface OracleValue {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly step: string | null;
  readonly fitted: number;
  /** The dollars of options that are counted. */
  readonly options: number;
  readonly outOfRange: { readonly attribute: string; readonly min: number; readonly max: number } | undefined;
}

const text = (value: unknown): string => (value == null ? "" : String(value));

/** Reads a row with the columns of a listing, and `option_value` and `is_branded`. */
export function pricedVehicle(row: Row): PricedVehicle {
  const isNew = row.inventory_type === "new";
  return {
    id: text(row.id),
    isNew,
    make: text(row.make),
    model: text(row.model),
    trim: text(row.trim),
    version: text(row.version),
    year: Number(row.year),
    miles: Number(row.miles),
    msrp: row.msrp == null ? null : Number(row.msrp),
    body: [row.body_type, row.powertrain_type].filter((part) => part != null).join(" "),
    state: text(row.state),
    certified: row.inventory_type === "certified" ? 1 : 0,
    options: isNew ? 0 : Number(row.option_value ?? 0),
    price: Number(row.price),
    isBranded: row.is_branded === true,
  };
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const mean = (values: readonly number[]): number => sum(values) / values.length;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

export function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

const pull = (value: number, towards: number, count: number, weight: number): number =>
  towards + (count / (count + weight)) * (value - towards);

export const modelOf = ({ isNew, make, model }: Vehicle): string => JSON.stringify([isNew, make, model]);
const trimOf = (vehicle: Vehicle): string => JSON.stringify([modelOf(vehicle), vehicle.trim]);
const versionOf = (vehicle: Vehicle): string => JSON.stringify([trimOf(vehicle), vehicle.version]);
export const modelYearOf = (vehicle: Vehicle): string => JSON.stringify([modelOf(vehicle), vehicle.year]);
const stateOf = ({ isNew, state }: Vehicle): string => JSON.stringify([isNew, state]);
const bodyOf = ({ isNew, body }: Vehicle): string => JSON.stringify([isNew, body]);
export const bodyYearOf = (vehicle: Vehicle): string => JSON.stringify([bodyOf(vehicle), vehicle.year]);

/** The logarithm of a price, of a new car that of its price to MSRP. */
export const logOf = ({ isNew, price, msrp }: PricedVehicle): number => Math.log(isNew ? price / (msrp ?? 0) : price);

const measures = {
  y: logOf,
  year: ({ year }: PricedVehicle) => year,
  miles: ({ miles }: PricedVehicle) => miles / rules.mileageUnit,
  options: ({ options }: PricedVehicle) => (options ?? 0) / rules.optionUnit,
  certified: ({ certified }: PricedVehicle) => certified,
};
type Measure = keyof typeof measures;

const products = ["year year", "miles miles", "year miles", "y year", "y miles"] as const;
type Products = Readonly<Record<(typeof products)[number], number>>;

/** Returns the sum of products of deviations from the means of versions. */
function within(rows: readonly PricedVehicle[], one: Measure, other: Measure): number {
  return sum(
    [...grouped(rows, versionOf).values()].map((cell) => {
      const first = mean(cell.map(measures[one]));
      const second = mean(cell.map(measures[other]));
      return sum(cell.map((row) => (measures[one](row) - first) * (measures[other](row) - second)));
    }),
  );
}

const productsOf = (rows: readonly PricedVehicle[]): Products => {
  const of = (name: string): number => {
    const [one = "y", other = "y"] = name.split(" ") as Measure[];
    return within(rows, one, other);
  };
  return Object.fromEntries(products.map((name) => [name, of(name)])) as unknown as Products;
};

interface Slopes {
  readonly byYear: number;
  readonly byMiles: number;
}

const round6 = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Solves the normal equations of a model, bounded: a year is worth at least 0, 10,000 miles at most 0. */
function boundedSlopes(of: Products, listings: number): Slopes {
  const most = listings >= rules.slopeListingsMin ? -1 : Math.log(1 - rules.mileageLossMax);
  const bounded = (slope: number): number => Math.min(0, Math.max(most, slope));
  const determinant = of["year year"] * of["miles miles"] - of["year miles"] ** 2;
  const byMiles = bounded((of["year year"] * of["y miles"] - of["year miles"] * of["y year"]) / determinant);
  const byYear = (of["y year"] - of["year miles"] * byMiles) / of["year year"];
  if (byYear > 0) return { byYear: round6(byYear), byMiles: round6(byMiles) };
  return { byYear: 0, byMiles: round6(bounded(of["y miles"] / of["miles miles"])) };
}

const plus = (one: Products, other: Products, factor: number): Products =>
  Object.fromEntries(products.map((name) => [name, one[name] + factor * other[name]])) as unknown as Products;

/** Returns the slopes of models: each has its own listings, 30 average ones of its body type, which has 30 average ones of the market. */
function slopesOf(rows: readonly PricedVehicle[]): ReadonlyMap<string, Slopes> {
  const slopes = new Map<string, Slopes>();
  for (const market of grouped(rows, ({ isNew }) => String(isNew)).values()) {
    const ofMarket = productsOf(market);
    const models = grouped(market, modelOf);
    const bodies = new Map(
      [...models].map(([model, own]) => [
        model,
        own
          .map(({ body }) => body)
          .sort()
          .at(-1) ?? "",
      ]),
    );
    for (const [body, ofBody] of grouped(market, (row) => bodies.get(modelOf(row)) ?? "")) {
      const shared = plus(productsOf(ofBody), ofMarket, rules.slopePull / market.length);
      for (const [model, own] of models) {
        if (bodies.get(model) !== body) continue;
        const pooled = plus(productsOf(own), shared, rules.slopePull / (ofBody.length + rules.slopePull));
        const ridge = Object.fromEntries(products.map((name) => [name, 1e-6])) as unknown as Products;
        slopes.set(model, boundedSlopes(plus(pooled, ridge, 1), own.length));
      }
    }
  }
  return slopes;
}

/** Returns what a unit of options or a certificate is worth, beyond the slopes of years and miles. */
function worthOf(rows: readonly PricedVehicle[], measure: Measure, slopes: ReadonlyMap<string, Slopes>): number {
  let explained = 0;
  for (const [model, own] of grouped(rows, modelOf)) {
    const { byYear = 0, byMiles = 0 } = slopes.get(model) ?? {};
    explained +=
      within(own, measure, "y") - byYear * within(own, "year", measure) - byMiles * within(own, "miles", measure);
  }
  const squares = within(rows, measure, measure);
  return squares === 0 ? 0 : round6(explained / squares);
}

/** Returns the isotonic regression of totals in order: neighbors that fall are joined at their weighted mean. */
function isotonic(points: readonly { readonly total: number; readonly weight: number }[]): readonly number[] {
  const blocks: { total: number; weight: number; size: number }[] = [];
  for (const { total, weight } of points) {
    let block = { total, weight, size: 1 };
    for (let last = blocks.at(-1); last !== undefined && last.total > block.total; last = blocks.at(-1)) {
      blocks.pop();
      const both = last.weight + block.weight;
      block = {
        total: (last.total * last.weight + block.total * block.weight) / both,
        weight: both,
        size: last.size + block.size,
      };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ total, size }) => Array.from({ length: size }, () => total));
}

interface Level {
  readonly listings: number;
  readonly level: number;
  /** The mean dollars of options of its listings. */
  readonly options: number;
}

type RangeName = "year" | "miles" | "msrp" | "price";

interface Fit {
  readonly rows: readonly PricedVehicle[];
  readonly slopes: ReadonlyMap<string, Slopes>;
  readonly byOptions: readonly [used: number, ofNew: number];
  readonly byCertificate: readonly [used: number, ofNew: number];
  readonly models: ReadonlyMap<string, Level & { readonly rows: readonly PricedVehicle[] }>;
  readonly trims: ReadonlyMap<string, Level>;
  readonly versions: ReadonlyMap<string, Level>;
  /** The effects of the model years between the oldest and the newest of a model, and their listings. */
  readonly years: ReadonlyMap<string, { readonly level: number; readonly listings: number }>;
  readonly states: ReadonlyMap<string, number>;
}

/** Fits the listings that count. */
export function fitOf(rows: readonly PricedVehicle[]): Fit {
  const slopes = slopesOf(rows);
  const used = rows.filter(({ isNew }) => !isNew);
  const ofNew = rows.filter(({ isNew }) => isNew);
  const worth = (measure: Measure, of: readonly PricedVehicle[]) => worthOf(of, measure, slopes);
  const byOptions = [Math.max(0, worth("options", used)), Math.max(0, worth("options", ofNew))] as const;
  const byCertificate = [worth("certified", used), worth("certified", ofNew)] as const;
  const slopePart = (row: Vehicle, options: number): number =>
    slopeSum({ slopes, byOptions, byCertificate }, row, options);
  const restOf = new Map(rows.map((row) => [row, logOf(row) - slopePart(row, row.options ?? 0)]));
  const levels = (
    of: readonly PricedVehicle[],
    keyOf: (row: Vehicle) => string,
    towards: (row: Vehicle) => number | undefined,
  ) =>
    new Map(
      [...grouped(of, keyOf)].map(
        ([key, own]): readonly [string, Level & { readonly rows: readonly PricedVehicle[] }] => {
          const raw = median(own.map((row) => restOf.get(row) ?? Number.NaN));
          const next = own[0] && towards(own[0]);
          const level = next === undefined ? raw : pull(raw, next, own.length, rules.levelPull);
          return [
            key,
            { listings: own.length, level, options: mean(own.map(({ options }) => options ?? 0)), rows: own },
          ];
        },
      ),
    );
  const models = levels(rows, modelOf, () => undefined);
  const trims = levels(
    rows.filter(({ trim }) => trim !== ""),
    trimOf,
    (row) => models.get(modelOf(row))?.level,
  );
  const versions = levels(
    rows.filter(({ version }) => version !== ""),
    versionOf,
    (row) => (trims.get(trimOf(row)) ?? models.get(modelOf(row)))?.level,
  );
  const levelOf = (row: Vehicle): number =>
    (versions.get(versionOf(row)) ?? trims.get(trimOf(row)) ?? models.get(modelOf(row)))?.level ?? Number.NaN;
  const leftOf = new Map(rows.map((row) => [row, (restOf.get(row) ?? Number.NaN) - levelOf(row)]));
  const years = yearsOf(rows, slopes, leftOf);
  const states = new Map(
    [
      ...grouped(
        rows.filter(({ state }) => state !== ""),
        stateOf,
      ),
    ].map(([key, own]) => [
      key,
      pull(
        median(own.map((row) => (leftOf.get(row) ?? Number.NaN) - (years.get(modelYearOf(row))?.level ?? 0))),
        0,
        own.length,
        rules.statePull,
      ),
    ]),
  );
  return { rows, slopes, byOptions, byCertificate, models, trims, versions, years, states };
}

/** Returns what the slopes say of a vehicle. */
function slopeSum(fit: Pick<Fit, "slopes" | "byOptions" | "byCertificate">, vehicle: Vehicle, options: number): number {
  const { byYear = 0, byMiles = 0 } = fit.slopes.get(modelOf(vehicle)) ?? {};
  const condition = vehicle.isNew ? 1 : 0;
  return (
    byYear * vehicle.year +
    (byMiles * vehicle.miles) / rules.mileageUnit +
    (fit.byOptions[condition] * options) / rules.optionUnit +
    fit.byCertificate[condition] * vehicle.certified
  );
}

function yearsOf(
  rows: readonly PricedVehicle[],
  slopes: ReadonlyMap<string, Slopes>,
  leftOf: ReadonlyMap<PricedVehicle, number>,
): Fit["years"] {
  const effects = new Map<string, { level: number; listings: number }>();
  for (const [model, own] of grouped(rows, modelOf)) {
    const { byYear = 0 } = slopes.get(model) ?? {};
    const listed = [...grouped(own, ({ year }) => String(year)).values()].toSorted(
      (one, other) => (one[0]?.year ?? 0) - (other[0]?.year ?? 0),
    );
    const totals = isotonic(
      listed.map((same) => ({
        total:
          byYear * (same[0]?.year ?? 0) +
          pull(median(same.map((row) => leftOf.get(row) ?? Number.NaN)), 0, same.length, rules.yearPull),
        weight: same.length + rules.yearPull,
      })),
    );
    const of = (vehicle: PricedVehicle, year: number): string => modelYearOf({ ...vehicle, year });
    for (const [index, same] of listed.entries()) {
      const [row] = same;
      const next = listed[index + 1]?.[0]?.year;
      const total = totals[index] ?? Number.NaN;
      if (row === undefined) continue;
      effects.set(modelYearOf(row), { level: total - byYear * row.year, listings: same.length });
      for (let year = row.year + 1; next !== undefined && year < next; year += 1) {
        const between = Math.max(total, Math.min(totals[index + 1] ?? Number.NaN, byYear * year));
        effects.set(of(row, year), { level: between - byYear * year, listings: 0 });
      }
    }
  }
  return effects;
}

/** What a fit says of a vehicle. */
export interface Said {
  readonly step: string | null;
  /** The logarithm of the value; of a new car, of that to MSRP. */
  readonly fit: number;
  readonly value: number;
  readonly options: number;
  readonly outOfRange: OracleValue["outOfRange"];
  /** The part that its price has in the level, and in the effect of its model year, if it is one of the fit. */
  readonly inLevel: number;
  readonly inYear: number;
  readonly ofBody: { readonly low: number; readonly high: number } | undefined;
}

const rangeOf = (rows: readonly PricedVehicle[], name: RangeName) => {
  const known = rows.flatMap((row) => (row[name] === null ? [] : [row[name]]));
  return { min: Math.min(...known), max: Math.max(...known) };
};

function rangeLeft(
  vehicle: Vehicle,
  step: string | null,
  value: number,
  rows: readonly PricedVehicle[],
): OracleValue["outOfRange"] {
  const isOfBody = step === "body_and_age";
  const checked: readonly (readonly [RangeName, number, number])[] = [
    ["year", vehicle.year, 1],
    ["miles", vehicle.miles, 1],
    ...(vehicle.isNew || isOfBody ? [["msrp", vehicle.msrp ?? Number.NaN, 1] as const] : []),
    ["price", value, rules.priceSlack],
  ];
  for (const [attribute, own, slack] of checked) {
    const { min, max } = rangeOf(rows, attribute);
    if (own < min / slack || own > max * slack) return { attribute, min, max };
  }
  return undefined;
}

/** Returns what a fit, and the listings of body types and model years, say of a vehicle. */
export function say(fit: Fit, bodies: ReadonlyMap<string, readonly PricedVehicle[]>, vehicle: Vehicle): Said {
  const model = fit.models.get(modelOf(vehicle));
  const trim = fit.trims.get(trimOf(vehicle));
  const version = fit.versions.get(versionOf(vehicle));
  const year = fit.years.get(modelYearOf(vehicle));
  const level = version ?? trim ?? model;
  const options = vehicle.options ?? level?.options ?? 0;
  const sumOfParts =
    (level?.level ?? Number.NaN) +
    (year?.level ?? 0) +
    (fit.states.get(stateOf(vehicle)) ?? 0) +
    slopeSum(fit, vehicle, options);
  const same = bodies.get(bodyYearOf(vehicle)) ?? [];
  const isBodyKnown = vehicle.body !== "" && (vehicle.msrp ?? 0) > 0 && same.length >= rules.bodySampleMin;
  const step =
    (trim?.listings ?? 0) >= rules.sampleMin
      ? "trim"
      : (model?.listings ?? 0) >= rules.sampleMin
        ? "model"
        : isBodyKnown
          ? "body_and_age"
          : null;
  const ratios = same.map(({ price, msrp }) => Math.log(price / (msrp ?? 0))).toSorted((one, other) => one - other);
  const isOfBody = step === "body_and_age";
  const middle = isOfBody ? median(ratios) : 0;
  const value = isOfBody
    ? (vehicle.msrp ?? 0) * Math.exp(middle)
    : (vehicle.isNew ? (vehicle.msrp ?? 0) : 1) * Math.exp(sumOfParts);
  const share = (own: Level | undefined, inNext: number): number =>
    own === undefined ? inNext : (1 + rules.levelPull * inNext) / (own.listings + rules.levelPull);
  return {
    step,
    fit: sumOfParts,
    value,
    options,
    outOfRange: step === null ? undefined : rangeLeft(vehicle, step, value, isOfBody ? same : (model?.rows ?? [])),
    inLevel: share(version, share(trim, 1 / Math.max(model?.listings ?? 0, 2))),
    inYear: 1 / ((year?.listings ?? 0) + rules.yearPull),
    ofBody: isOfBody
      ? { low: quantile(ratios, rules.tail) - middle, high: quantile(ratios, 1 - rules.tail) - middle }
      : undefined,
  };
}

/** Returns a quantile of sorted numbers, between the two nearest ones. */
function quantile(sorted: readonly number[], fraction: number): number {
  const index = fraction * (sorted.length - 1);
  const low = sorted[Math.floor(index)] ?? 0;
  return low + ((sorted[Math.ceil(index)] ?? 0) - low) * (index - Math.floor(index));
}

/** Oracle of values and intervals: docs/valuation.md in JavaScript over all rows, without SQL. */
import { createHash } from "node:crypto";
import { rules } from "../../src/valuation/rules.ts";
import {
  bodyYearOf,
  fitOf,
  grouped,
  logOf,
  median,
  modelOf,
  modelYearOf,
  type OracleValue,
  type PricedVehicle,
  type Said,
  say,
  sum,
  type Vehicle,
} from "./fit-oracle.ts";

/** A held-out listing, as listed or as a request may describe it, by the fit of the other folds. */
export interface Miss {
  readonly id: string;
  readonly vehicle: Vehicle;
  readonly isDescribed: boolean;
  readonly step: string;
  readonly age: number;
  readonly band: number;
  readonly miss: number;
  readonly price: number;
}

export interface Oracle {
  readonly valueOf: (vehicle: Vehicle, isDescribed: boolean) => OracleValue;
  readonly listed: ReadonlyMap<string, OracleValue>;
  readonly misses: readonly Miss[];
}

const foldOf = (id: string): number =>
  1 + (Number.parseInt(createHash("md5").update(id).digest("hex").slice(0, 6), 16) % rules.folds);

const bandOf = (price: number): number => rules.priceBands.filter((bound) => price > bound).length;

/** Returns the values of listings and of described vehicles by the definition. */
export function oracleOf(rows: readonly PricedVehicle[]): Oracle {
  const usual = new Map(
    [
      ...grouped(
        rows.filter(({ isBranded }) => !isBranded),
        modelYearOf,
      ),
    ].map(([key, same]) => [key, median(same.map(logOf))]),
  );
  const isRegular = (row: PricedVehicle): boolean =>
    !row.isBranded &&
    row.miles <= rules.milesMax &&
    Math.abs(logOf(row) - (usual.get(modelYearOf(row)) ?? Number.NaN)) < Math.log(rules.outlierRatio);
  const regular = rows.filter(isRegular);
  const newest = Math.max(...regular.map(({ year }) => year));
  const ageOf = ({ year }: Vehicle): number => rules.ageBands.filter((from) => newest - year >= from).length;
  const fit = fitOf(regular);
  const bodies = grouped(
    regular.filter(({ msrp }) => (msrp ?? 0) > 0),
    bodyYearOf,
  );
  const misses = heldOut(rows, regular).map((held) => ({ ...held, age: ageOf(held.vehicle) }));
  const interval = calibrated(misses);
  const intervalOf = (vehicle: Vehicle, { step, ofBody, value }: Said, isDescribed: boolean) =>
    step === null
      ? undefined
      : (ofBody ?? interval({ vehicle, step, isDescribed, age: ageOf(vehicle), band: bandOf(value) }));
  const valued = (vehicle: Vehicle, said: Said, exact: number, isDescribed: boolean): OracleValue => {
    const { low = Number.NaN, high = Number.NaN } = intervalOf(vehicle, said, isDescribed) ?? {};
    const value = Math.max(1, Math.round(exact));
    const { step, options, outOfRange } = said;
    const fitted = (vehicle.isNew ? (vehicle.msrp ?? 0) : 1) * Math.exp(said.fit);
    return { value, low: value * Math.exp(low), high: value * Math.exp(high), step, fitted, options, outOfRange };
  };
  const listed = rows.flatMap((row): readonly (readonly [string, OracleValue])[] => {
    if (row.isBranded) return [];
    const said = say(fit, bodies, row);
    const isCounted = isRegular(row) && said.step !== "body_and_age";
    const without = (logOf(row) - said.fit) / ((1 - said.inLevel) * (1 - said.inYear));
    return [[row.id, valued(row, said, isCounted ? row.price * Math.exp(-without) : said.value, false)]];
  });
  return {
    valueOf: (vehicle, isDescribed) => {
      const said = say(fit, bodies, vehicle);
      return valued(vehicle, said, said.value, isDescribed);
    },
    listed: new Map(listed),
    misses,
  };
}

/** Values the listings of each fold by the fit of the others. */
function heldOut(rows: readonly PricedVehicle[], regular: readonly PricedVehicle[]): readonly Omit<Miss, "age">[] {
  const folds = Math.min(rules.folds, Math.ceil((rules.folds * rules.heldOutMin) / regular.length));
  return Array.from({ length: folds }, (_, index) => index + 1).flatMap((fold) => {
    const fit = fitOf(regular.filter(({ id }) => foldOf(id) !== fold));
    return rows
      .filter((row) => foldOf(row.id) === fold && !row.isBranded)
      .flatMap((row) => {
        const plain = { ...row, version: "", options: null };
        const described = [...(row.trim === "" ? [] : [plain]), { ...plain, trim: "" }];
        return [row, ...described].flatMap((vehicle: Vehicle) => {
          const { step, value, outOfRange, fit: ofFit } = say(fit, new Map(), vehicle);
          if (step === null || outOfRange !== undefined) return [];
          return [
            {
              id: row.id,
              vehicle,
              isDescribed: vehicle !== row,
              step,
              band: bandOf(value),
              miss: logOf(row) - ofFit,
              price: row.price,
            },
          ];
        });
      });
  });
}

type Calibrated = Pick<Miss, "vehicle" | "isDescribed" | "step" | "age" | "band">;

/** Returns a function for the ends of the interval of a vehicle, as logarithms of what they are of the value. */
function calibrated(
  misses: readonly Miss[],
): (of: Calibrated) => { readonly low: number; readonly high: number } | undefined {
  const listed = misses.filter(({ isDescribed }) => !isDescribed);
  const squares = (of: readonly Miss[]): number => sum(of.map(({ miss }) => Math.min(1, miss ** 2)));
  const ages = grouped(listed, ({ vehicle, age }) => `${vehicle.isNew} ${age}`);
  const models = grouped(listed, ({ vehicle, age }) => `${modelOf(vehicle)} ${age}`);
  const spreadOf = ({ vehicle, age }: Pick<Miss, "vehicle" | "age">): number => {
    const own = models.get(`${modelOf(vehicle)} ${age}`) ?? [];
    const all = ages.get(`${vehicle.isNew} ${age}`) ?? listed.filter((one) => one.vehicle.isNew === vehicle.isNew);
    const pulledSum = squares(own) + (rules.spreadPull * squares(all)) / all.length;
    return Math.max(0.001, Math.sqrt(pulledSum / (own.length + rules.spreadPull)));
  };
  const keys: readonly ((one: Calibrated) => unknown)[] = [
    ({ step, age, band }) => [step, band, age],
    ({ step, band }) => [step, band, ""],
    ({ band }) => ["", band],
    ({ step }) => [step],
    () => [],
  ];
  const keyOf = (one: Calibrated, index: number): string =>
    JSON.stringify([one.vehicle.isNew, one.isDescribed, keys[index]?.(one)]);
  const inSpreads = new Map(misses.map((one) => [one, one.miss / spreadOf(one)]));
  const groups = keys.map((_, index) => grouped(misses, (one) => keyOf(one, index)));
  return (of) => {
    const chosen = groups
      .map((group, index) => group.get(keyOf(of, index)) ?? [])
      .find(({ length }) => length >= rules.calibrationMin);
    const spread = spreadOf(of);
    const isKnown = groups[3]?.has(keyOf(of, 3)) === true;
    if (!isKnown) return undefined;
    if (chosen === undefined) return { low: -rules.normalTail * spread, high: rules.normalTail * spread };
    const z = chosen.map((one) => inSpreads.get(one) ?? Number.NaN).toSorted((one, other) => one - other);
    const low = z[Math.max(1, Math.floor((z.length + 1) / 10)) - 1] ?? Number.NaN;
    const high = z[Math.min(z.length, Math.ceil((9 * (z.length + 1)) / 10)) - 1] ?? Number.NaN;
    return { low: low * spread, high: high * spread };
  };
}

/** Oracle of the valuation: the fit of `src/valuation/fit.ts`, step by step in JavaScript over all rows, without its SQL. */
import type { Row } from "../../src/base/json.ts";
import { rules } from "../../src/valuation/rules.ts";

/** A listing as the fit sees it: see `pricedListings`. */
export interface PricedRow {
  readonly id: string;
  readonly group: string;
  readonly trim: string;
  readonly version: string;
  readonly model: string;
  readonly body: string;
  readonly state: string | null;
  readonly year: number;
  readonly price: number;
  readonly msrp: number | null;
  readonly isNew: boolean;
  readonly isSale: boolean;
  readonly isBranded: boolean;
  readonly certified: number;
  readonly mileage: number;
  readonly options: number;
  /** The logarithm of the price, of a new car that of its price to MSRP. */
  readonly y: number;
}

export interface OracleValue {
  readonly fitted: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly step: string;
}

const text = (value: unknown): string => (value == null ? "" : String(value));

export function pricedRow(row: Row): PricedRow {
  const isNew = row.inventory_type === "new";
  const price = Number(row.price);
  const year = Number(row.year);
  const miles = Number(row.miles);
  const msrp = row.msrp == null ? null : Number(row.msrp);
  const group = [isNew, row.make].join("|");
  const model = [group, row.model].join("|");
  const trim = [model, text(row.trim)].join("|");
  return {
    id: text(row.id),
    group: String(isNew),
    model,
    trim,
    version: [trim, text(row.version)].join("|"),
    body: [row.body_type, row.powertrain_type].filter((part) => part != null).join(" "),
    state: row.state == null ? null : text(row.state),
    year,
    price,
    msrp,
    isNew,
    isSale: row.sold_date != null,
    isBranded: row.is_branded === true,
    certified: row.inventory_type === "certified" ? 1 : 0,
    mileage: miles / 10_000,
    options: isNew ? 0 : Number(row.option_value ?? 0) / 30_000,
    y: Math.log(isNew ? price / (msrp ?? 0) : price),
  };
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = fraction * (sorted.length - 1);
  const low = sorted[Math.floor(position)] ?? 0;
  const high = sorted[Math.ceil(position)] ?? low;
  return low + (high - low) * (position - Math.floor(position));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

const pull = (value: number, towards: number, count: number, weight: number): number =>
  towards + (count / (count + weight)) * (value - towards);

type Measure = "y" | "year" | "mileage" | "options" | "certified";

/** Returns the sum of products of deviations within versions. */
function within(rows: readonly PricedRow[], one: Measure, other: Measure): number {
  return sum(
    [...grouped(rows, ({ version }) => version).values()].map((cell) => {
      const mean = (measure: Measure): number => sum(cell.map((row) => row[measure])) / cell.length;
      const first = mean(one);
      const second = mean(other);
      return sum(cell.map((row) => (row[one] - first) * (row[other] - second)));
    }),
  );
}

interface Slopes {
  readonly byYear: number;
  readonly byMileage: number;
  byOptions: number;
  byCertificate: number;
}

function slopesOf(regular: readonly PricedRow[]): ReadonlyMap<string, Slopes> {
  const models = grouped(regular, ({ model }) => model);
  const bodyOf = new Map(
    [...models].map(([model, rows]) => [
      model,
      rows
        .map(({ body }) => body)
        .sort()
        .at(-1) ?? "",
    ]),
  );
  const ofBody = grouped(regular, (row) => `${row.group}|${bodyOf.get(row.model)}`);
  const slopes = new Map<string, Slopes>();
  for (const [model, rows] of models) {
    const shared = ofBody.get(`${rows[0]?.group}|${bodyOf.get(model)}`) ?? [];
    const k = rules.slopePull / shared.length;
    const product = (one: Measure, other: Measure): number => within(rows, one, other) + k * within(shared, one, other);
    const aa = product("year", "year") + 1e-6;
    const mm = product("mileage", "mileage") + 1e-6;
    const am = product("year", "mileage");
    const ay = product("y", "year");
    const my = product("y", "mileage");
    const determinant = aa * mm - am * am;
    const byYear = (mm * ay - am * my) / determinant;
    slopes.set(model, { byYear, byMileage: (aa * my - am * ay) / determinant, byOptions: 0, byCertificate: 0 });
  }
  for (const group of new Set(regular.map((row) => row.group))) {
    const own = [...models].filter(([, rows]) => rows[0]?.group === group);
    const worth = (measure: Measure): number => {
      const residual = own.map(([model, rows]) => {
        const { byYear = 0, byMileage = 0 } = slopes.get(model) ?? {};
        return (
          within(rows, measure, "y") -
          byYear * within(rows, "year", measure) -
          byMileage * within(rows, "mileage", measure)
        );
      });
      const squares = sum(own.map(([, rows]) => within(rows, measure, measure)));
      return squares === 0 ? 0 : sum(residual) / squares;
    };
    const byOptions = worth("options");
    const byCertificate = worth("certified");
    for (const [model] of own) Object.assign(slopes.get(model) ?? {}, { byOptions, byCertificate });
  }
  return slopes;
}

/** Values every listing that is not branded and whose model has enough listings; the others are absent. */
export function valuesByOracle(rows: readonly PricedRow[]): ReadonlyMap<string, OracleValue> {
  const usual = new Map(
    [
      ...grouped(
        rows.filter(({ isBranded }) => !isBranded),
        (row) => `${row.model}|${row.year}`,
      ),
    ].map(([key, same]) => [key, median(same.map(({ y }) => y))]),
  );
  const isRegular = (row: PricedRow): boolean =>
    !row.isBranded && Math.abs(row.y - (usual.get(`${row.model}|${row.year}`) ?? 0)) < Math.log(rules.outlierRatio);
  const regular = rows.filter(isRegular);
  const slopes = slopesOf(regular);
  const restOf = (row: PricedRow): number => {
    const { byYear = 0, byMileage = 0, byOptions = 0, byCertificate = 0 } = slopes.get(row.model) ?? {};
    return (
      row.y - byYear * row.year - byMileage * row.mileage - byOptions * row.options - byCertificate * row.certified
    );
  };
  const levels = levelsOf(regular, restOf);
  const valued = rows
    .filter((row) => slopes.has(row.model))
    .map((row) => {
      const { fit, inLevel, inYear, step } = levels(row);
      const residual = restOf(row) - fit;
      return { row, step, residual, without: isRegular(row) ? residual / ((1 - inLevel) * (1 - inYear)) : residual };
    });
  return intervals(valued, isRegular);
}

function levelsOf(regular: readonly PricedRow[], restOf: (row: PricedRow) => number) {
  const { levelPull, yearPull, statePull, sampleMin } = rules;
  const medians = (keyOf: (row: PricedRow) => string, measureOf: (row: PricedRow) => number) =>
    new Map(
      [...grouped(regular, keyOf)].map(([key, same]) => [key, { n: same.length, median: median(same.map(measureOf)) }]),
    );
  const [models, trims, versions] = (["model", "trim", "version"] as const).map((kind) =>
    medians((row) => row[kind], restOf),
  ) as [ReturnType<typeof medians>, ReturnType<typeof medians>, ReturnType<typeof medians>];
  const levelOf = (row: PricedRow): number => {
    const model = models.get(row.model);
    const trim = trims.get(row.trim);
    const version = versions.get(row.version);
    const ofTrim = pull(trim?.median ?? 0, model?.median ?? 0, trim?.n ?? 0, levelPull);
    return version === undefined ? ofTrim : pull(version.median, ofTrim, version.n, levelPull);
  };
  const years = medians(
    (row) => `${row.model}|${row.year}`,
    (row) => restOf(row) - levelOf(row),
  );
  const yearOf = (row: PricedRow): number => {
    const year = years.get(`${row.model}|${row.year}`);
    return year === undefined ? 0 : pull(year.median, 0, year.n, yearPull);
  };
  const states = medians(
    (row) => `${row.group}|${row.state}`,
    (row) => restOf(row) - levelOf(row) - yearOf(row),
  );
  return (row: PricedRow) => {
    const state = row.state === null ? undefined : states.get(`${row.group}|${row.state}`);
    const version = versions.get(row.version)?.n ?? 0;
    const trim = trims.get(row.trim)?.n ?? 0;
    const isEnough = (n: number | undefined): boolean => (n ?? 0) >= sampleMin;
    return {
      fit: levelOf(row) + yearOf(row) + (state === undefined ? 0 : pull(state.median, 0, state.n, statePull)),
      inLevel: (1 / (version + levelPull)) * (1 + 1 / (trim + levelPull)),
      inYear: 1 / ((years.get(`${row.model}|${row.year}`)?.n ?? 0) + yearPull),
      step: isEnough(trim) ? "trim" : isEnough(models.get(row.model)?.n) ? "model" : undefined,
    };
  };
}

interface Judged {
  readonly row: PricedRow;
  readonly step: string | undefined;
  readonly residual: number;
  readonly without: number;
}

function intervals(
  valued: readonly Judged[],
  isRegular: (row: PricedRow) => boolean,
): ReadonlyMap<string, OracleValue> {
  const newest = Math.max(...valued.map(({ row }) => row.year));
  const bandOf = ({ year }: PricedRow): number => rules.ageBands.filter((from) => newest - year >= from).length;
  const regular = valued.filter(({ row }) => isRegular(row));
  const square = ({ without }: Judged): number => Math.min(Math.abs(without), 1) ** 2;
  const overall = new Map(
    [...grouped(regular, ({ row }) => `${row.group}|${bandOf(row)}`)].map(([key, same]) => [
      key,
      sum(same.map(square)) / same.length,
    ]),
  );
  const ofModel = grouped(regular, ({ row }) => `${row.model}|${bandOf(row)}`);
  const spreadOf = (row: PricedRow): number => {
    const same = ofModel.get(`${row.model}|${bandOf(row)}`) ?? [];
    const shared = overall.get(`${row.group}|${bandOf(row)}`) ?? Number.NaN;
    return Math.sqrt((sum(same.map(square)) + rules.spreadPull * shared) / (same.length + rules.spreadPull));
  };
  const z = regular.flatMap(({ row, step, without }) =>
    step === undefined ? [] : [{ row, step, z: without / spreadOf(row) }],
  );
  const tails = [(1 - rules.coverage) / 2, (1 + rules.coverage) / 2];
  const endsOf = ({ row, step }: Judged): readonly number[] => {
    const ofStep = z.filter((other) => other.row.group === row.group && other.step === step);
    const sales = ofStep.filter((other) => other.row.isSale);
    const ofBand = sales.filter((other) => bandOf(other.row) === bandOf(row));
    const chosen = [ofBand, sales, ofStep].find(({ length }) => length >= rules.calibrationMin);
    if (chosen === undefined) return [-rules.normalTail, rules.normalTail];
    return tails.map((tail) =>
      quantile(
        chosen.map((one) => one.z),
        tail,
      ),
    );
  };
  const ends = new Map<string, readonly number[]>();
  return new Map(
    valued.flatMap((one): readonly (readonly [string, OracleValue])[] => {
      const { row, step, residual, without } = one;
      if (step === undefined || row.isBranded) return [];
      const key = `${row.group}|${step}|${bandOf(row)}`;
      const [low = 0, high = 0] = ends.get(key) ?? endsOf(one);
      ends.set(key, [low, high]);
      const value = row.price * Math.exp(-without);
      const spread = spreadOf(row);
      const fitted = row.price * Math.exp(-residual);
      return [
        [row.id, { fitted, value, low: value * Math.exp(low * spread), high: value * Math.exp(high * spread), step }],
      ];
    }),
  );
}

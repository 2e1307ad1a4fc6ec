/** The charts of docs/analysts.md, each drawn from the answer above it: the rows of a CSV, by the name in the flag `chart=<name>`. */
import { areaY, type PlotOptions } from "@observablehq/plot";
import { type BarChart, chartColors } from "../../bench/report/svg-chart.ts";
import { bars, type ChartPoint, type LabeledValue, legendOf, lines, scatter, wholeDollars } from "./chart-forms.ts";

/** A row of an answer. Columns without a value are empty. */
export type AnswerRow = Readonly<Record<string, string>>;

type AnswerChart = (rows: readonly AnswerRow[]) => BarChart;

const size = (panelHeight: number): Pick<BarChart, "panelWidth" | "panelHeight"> => ({ panelWidth: 648, panelHeight });
const heightOfBars = (count: number): number => 48 + 22 * count;

function numberOf(row: AnswerRow, column: string): number {
  const value = row[column];
  if (value === undefined || value === "" || Number.isNaN(Number(value)))
    throw new TypeError(`Invalid value "${value}" in column ${column}: expected a number.`);
  return Number(value);
}

const dayAxis = { type: "utc", label: "day", ticks: "1 day" } as const;

const trendPoints = (rows: readonly AnswerRow[], metric: string, series: string): readonly ChartPoint[] =>
  rows
    .filter((row) => row.metric === metric)
    .map((row) => ({ series, x: new Date(row.start ?? ""), y: numberOf(row, "metric_value") }));

/** Returns the values of a facet whose metric was measured on at least `sample` listings. */
const measuredValues = (rows: readonly AnswerRow[], sample: number): readonly LabeledValue[] =>
  rows
    .filter((row) => row.kind === "value" && row.metric_value !== "" && numberOf(row, "metric_sample") >= sample)
    .map((row) => ({ label: row.value ?? "", value: numberOf(row, "metric_value") }));

const labeled = (rows: readonly AnswerRow[], label: string, value: string): readonly LabeledValue[] =>
  rows.map((row) => ({ label: row[label] ?? "", value: numberOf(row, value) }));

function priceByDay(rows: readonly AnswerRow[]): BarChart {
  const high = trendPoints(rows, "price.p75", "");
  const band = trendPoints(rows, "price.p25", "").map(({ x, y }, index) => ({ x, low: y, high: high[index]?.y }));
  const area = areaY(band, { x: "x", y1: "low", y2: "high", fill: chartColors.orange, fillOpacity: 0.18 });
  const options: PlotOptions = { x: dayAxis, y: { label: "US dollars", tickFormat: wholeDollars }, marks: [area] };
  return {
    title: "Price of a used Ford F-150",
    subtitle: "Median asking price of the active listings of each day; the band holds the middle half of the prices",
    panels: [lines(trendPoints(rows, "price.median", "median"), options)],
    ...size(280),
  };
}

const flowNames = { new_listings: "new listings", sold: "sold", price_drops: "price cuts" } as const;

function flowsByDay(rows: readonly AnswerRow[]): BarChart {
  const points = Object.entries(flowNames).flatMap(([metric, name]) => trendPoints(rows, metric, name));
  return {
    title: "What happens to Fords each day",
    subtitle: "New listings, sales that became known, and price cuts",
    legend: legendOf(points),
    panels: [lines(points, { x: dayAxis, y: { label: "per day" } })],
    ...size(280),
  };
}

function discountByMake(rows: readonly AnswerRow[]): BarChart {
  const makes = measuredValues(rows, 10).map(({ label, value }) => ({ label, value: -100 * value }));
  return {
    title: "Value lost by vehicles of model year 2024",
    subtitle: "Median discount from MSRP; makes with at least 10 listings whose price and MSRP are known",
    panels: [bars(makes, "percent of MSRP", (value) => `${value.toFixed(0)} %`)],
    ...size(heightOfBars(makes.length)),
  };
}

const powertrainNames: Readonly<Record<string, string>> = { BEV: "electric", HEV: "hybrid", ICE: "combustion" };

function valueByAge(rows: readonly AnswerRow[]): BarChart {
  const points = rows.map((row) => ({
    series: powertrainNames[row.powertrain_type ?? ""] ?? "",
    x: numberOf(row, "age"),
    y: numberOf(row, "percent_of_msrp"),
  }));
  const y = { label: "percent of MSRP", tickFormat: (value: number) => `${value} %` };
  return {
    title: "Value kept, by age and powertrain",
    subtitle: "Median price of used and certified vehicles in percent of MSRP; points of at least 10 listings",
    legend: legendOf(points),
    panels: [lines(points, { x: { label: "years since the model year", ticks: 9 }, y })],
    ...size(320),
  };
}

function daysOnMarket(rows: readonly AnswerRow[]): BarChart {
  const makes = measuredValues(rows, 30);
  return {
    title: "How long new SUVs have been on the market",
    subtitle: "Median age of active listings; makes with at least 30 new SUVs",
    panels: [bars(makes, "days", String)],
    ...size(heightOfBars(makes.length)),
  };
}

function priceCuts(rows: readonly AnswerRow[]): BarChart {
  const dealers = labeled(rows, "dealer", "cuts_per_100");
  return {
    title: "Dealers that cut prices most",
    subtitle: "Price cuts from November 11 to 19, 2026, per 100 active listings; dealers with at least 100",
    panels: [bars(dealers, "price cuts per 100 listings", (value) => value.toFixed(1))],
    ...size(heightOfBars(dealers.length)),
  };
}

function cheapestStates(rows: readonly AnswerRow[]): BarChart {
  const isFirst = (row: AnswerRow): boolean => rows.find(({ model }) => model === row.model) === row;
  const barsOfStates = rows.map((row) => ({
    label: `${row.model} in ${row.state}`,
    value: numberOf(row, "median_price"),
    color: isFirst(row) ? chartColors.orange : chartColors.slate,
  }));
  return {
    title: "The same new model, state by state",
    subtitle: "Median asking price; states with at least 15 of the model; the cheapest state of each model is orange",
    panels: [bars(barsOfStates, "US dollars", wholeDollars)],
    ...size(heightOfBars(barsOfStates.length)),
  };
}

function electricByState(rows: readonly AnswerRow[]): BarChart {
  const states = labeled(rows, "state", "percent_electric");
  return {
    title: "Share of electric vehicles by state",
    subtitle: "Battery-electric vehicles among active listings; states with at least 150 listings",
    panels: [bars(states, "percent of listings", (value) => `${value.toFixed(1)} %`)],
    ...size(heightOfBars(states.length)),
  };
}

/** Model years, newest first, in groups that a reader can distinguish. */
const yearGroups = [
  { name: "2025 and newer", from: 2025 },
  { name: "2022 to 2024", from: 2022 },
  { name: "2019 to 2021", from: 2019 },
  { name: "2018 and older", from: 0 },
] as const;

const thousands = (value: number): string => (value === 0 ? "0" : `${value / 1000}k`);

function priceByMiles(rows: readonly AnswerRow[]): BarChart {
  const known = rows.filter((row) => row.price !== "" && row.miles !== "" && row.year !== "");
  const points = yearGroups.flatMap(({ name, from }, index) => {
    const end = yearGroups[index - 1]?.from ?? Number.POSITIVE_INFINITY;
    const isIn = (row: AnswerRow): boolean => numberOf(row, "year") >= from && numberOf(row, "year") < end;
    return known.filter(isIn).map((row) => ({ series: name, x: numberOf(row, "miles"), y: numberOf(row, "price") }));
  });
  const x = { label: "miles", tickFormat: thousands };
  return {
    title: "Used Toyota RAV4: price against mileage",
    subtitle: "A dot for each active listing, colored by model year",
    legend: legendOf(points),
    panels: [scatter(points, { x, y: { label: "US dollars", tickFormat: wholeDollars } })],
    ...size(320),
  };
}

function thenAndNow(rows: readonly AnswerRow[]): BarChart {
  const makes = labeled(rows, "make", "percent_change");
  return {
    title: "Active listings on November 19, 2026, against November 10",
    subtitle: "Change in the number of listings; the 15 makes that had most",
    panels: [bars(makes, "change in percent", (value) => `${value > 0 ? "+" : ""}${value.toFixed(1)} %`)],
    ...size(heightOfBars(makes.length)),
  };
}

export const answerCharts: Readonly<Record<string, AnswerChart>> = {
  "price-by-day": priceByDay,
  "flows-by-day": flowsByDay,
  "discount-by-make": discountByMake,
  "value-by-age": valueByAge,
  "days-on-market": daysOnMarket,
  "price-cuts": priceCuts,
  "cheapest-states": cheapestStates,
  "electric-by-state": electricByState,
  "price-by-miles": priceByMiles,
  "then-and-now": thenAndNow,
};

/** Bars with names and values, as lists: readable at any width. */
import type { JSX } from "preact";
import { percentText } from "./axis.ts";
import { ChartFigure, type ChartFigureProps, type NumbersColumn } from "./chart-figure.tsx";

export interface RankedValue {
  readonly name: string;
  readonly value: number;
  /** The target of the row's link. */
  readonly path?: string | undefined;
}

interface RankingPanelsProps {
  readonly rankings: readonly { readonly name: string; readonly values: readonly RankedValue[] }[];
  readonly format: (value: number) => string;
}

/** A row for each name, with a bar for each ranking that has it; highest first. */
export const RankingPanels = ({ rankings, format }: RankingPanelsProps): JSX.Element => {
  const all = rankings.flatMap(({ values }, index) => values.map((ranked) => ({ ...ranked, series: index + 1 })));
  const names = new Set(all.map(({ name }) => name));
  const rows = [...names].map((name) => all.filter((ranked) => ranked.name === name));
  const greatestOf = (ranked: typeof all): number => Math.max(...ranked.map(({ value }) => value));
  const max = Math.max(1, greatestOf(all));
  return (
    <ol class="ranking">
      {rows
        .sort((one, other) => greatestOf(other) - greatestOf(one))
        .map((row) => (
          <RankingRow key={row[0]?.name} row={row} max={max} format={format} />
        ))}
    </ol>
  );
};

interface RankingFigureProps extends Omit<ChartFigureProps, "numbers" | "children"> {
  /** The columns of the names and of the values. */
  readonly columns: readonly [name: NumbersColumn, value: Required<NumbersColumn>];
  readonly values: readonly RankedValue[];
}

/** A ranking as a chart with its numbers. */
export const RankingFigure = ({ columns, values, ...rest }: RankingFigureProps): JSX.Element => (
  <ChartFigure
    {...rest}
    numbers={{
      columns,
      rows: values.map(({ name, value, path }) => [path === undefined ? name : { text: name, path }, value]),
    }}
  >
    <RankingPanels rankings={[{ name: rest.title, values }]} format={columns[1].format} />
  </ChartFigure>
);

interface RankingRowProps extends Pick<RankingPanelsProps, "format"> {
  /** The values of one name. */
  readonly row: readonly (RankedValue & { readonly series: number })[];
  readonly max: number;
}

const RankingRow = ({ row, max, format }: RankingRowProps): JSX.Element => {
  const { name, path } = row[0] ?? {};
  const height = row.length > 1 ? 10 : 14;
  const parts = (
    <>
      <span class="name">{name}</span>
      <svg width="100%" height={row.length * height} aria-hidden="true">
        {row.map(({ value, series }, index) => (
          <rect
            key={series}
            class={`bar series-${series}`}
            y={index * height}
            width={percentText((100 * value) / max)}
            height={row.length > 1 ? height - 1 : height}
          />
        ))}
      </svg>
      <span class="amount">
        {row.map(({ value, series }) => (
          <span key={series} class={`series-${series}`}>
            {format(value)}
          </span>
        ))}
      </span>
    </>
  );
  return (
    <li>
      {path === undefined ? (
        <span class="row">{parts}</span>
      ) : (
        <a class="row" href={path}>
          {parts}
        </a>
      )}
    </li>
  );
};

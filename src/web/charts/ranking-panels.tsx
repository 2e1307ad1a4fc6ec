/** Bars with names and values, as lists: readable at any width. */
import type { ComponentChildren, JSX } from "preact";
import { percentText } from "./axis.ts";

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
  const max = Math.max(1, ...rankings.flatMap(({ values }) => values.map(({ value }) => value)));
  const names = new Set(rankings.flatMap(({ values }) => values.map(({ name }) => name)));
  const rows = [...names].map((name) => rankings.map(({ values }) => values.find((ranked) => ranked.name === name)));
  const greatest = (row: (typeof rows)[number]): number => Math.max(...row.map((ranked) => ranked?.value ?? 0));
  return (
    <ol class="ranking">
      {rows
        .sort((one, other) => greatest(other) - greatest(one))
        .map((row) => (
          <RankingRow key={row.find((one) => one !== undefined)?.name} row={row} max={max} format={format} />
        ))}
    </ol>
  );
};

interface RankingRowProps extends Pick<RankingPanelsProps, "format"> {
  /** The value of each ranking, if it has one. */
  readonly row: readonly (RankedValue | undefined)[];
  readonly max: number;
}

const RankingRow = ({ row, max, format }: RankingRowProps): JSX.Element => {
  const known = row.flatMap((ranked, series) => (ranked === undefined ? [] : [{ ...ranked, series: series + 1 }]));
  const height = known.length > 1 ? 10 : 14;
  return (
    <li>
      <Row path={known[0]?.path}>
        <span class="name">{known[0]?.name}</span>
        <svg width="100%" height={known.length * height} aria-hidden="true">
          {known.map(({ value, series }, index) => (
            <rect
              key={series}
              class={`bar series-${series}`}
              y={index * height}
              width={percentText((100 * value) / max)}
              height={known.length > 1 ? height - 1 : height}
            />
          ))}
        </svg>
        <span class="amount">
          {known.map(({ value, series }) => (
            <span key={series} class={`series-${series}`}>
              {format(value)}
            </span>
          ))}
        </span>
      </Row>
    </li>
  );
};

interface RowProps {
  readonly path: string | undefined;
  readonly children: ComponentChildren;
}

const Row = ({ path, children }: RowProps): JSX.Element =>
  path === undefined ? (
    <span class="row">{children}</span>
  ) : (
    <a class="row" href={path}>
      {children}
    </a>
  );

/** Bars with names and values, as lists: readable at any width. */
import type { JSX } from "preact";
import { percentText } from "./axis.ts";
import { Panels } from "./plot-area.tsx";

export interface RankedValue {
  readonly name: string;
  readonly value: number;
  /** The target of the name's link. */
  readonly path?: string | undefined;
}

interface RankingPanelsProps {
  readonly rankings: readonly { readonly name: string; readonly values: readonly RankedValue[] }[];
  readonly format: (value: number) => string;
}

export const RankingPanels = ({ rankings, format }: RankingPanelsProps): JSX.Element => {
  const max = Math.max(1, ...rankings.flatMap(({ values }) => values.map(({ value }) => value)));
  return (
    <Panels
      panels={rankings.map(({ name, values }) => [
        name,
        <ol class="ranking" key={name}>
          {values.map((ranked) => (
            <li key={ranked.name}>
              <span class="name">
                {ranked.path === undefined ? ranked.name : <a href={ranked.path}>{ranked.name}</a>}
              </span>
              <svg width="100%" height="10" aria-hidden="true">
                <rect class="bar" width={percentText((100 * ranked.value) / max)} height="10" />
              </svg>
              <span class="value">{format(ranked.value)}</span>
            </li>
          ))}
        </ol>,
      ])}
    />
  );
};

/** Squares of the days of a feed: filled where rows came, open where they were expected and did not. */
import type { JSX } from "preact";
import type { DeliveredDay } from "../../serving/published-day.ts";
import { count, day as dayText } from "../shell/format.ts";

interface DayBarsProps {
  readonly days: readonly Pick<DeliveredDay, "day" | "vins" | "hasFailed">[];
  readonly label: string;
}

export const DayBars = ({ days, label }: DayBarsProps): JSX.Element => (
  <span class="days" role="img" aria-label={label}>
    {days.map(({ day, vins, hasFailed }) => (
      <i
        key={day}
        class={hasFailed || vins === undefined ? "no" : undefined}
        title={`${dayText(day)}: ${hasFailed ? "nothing published" : count(vins, " rows")}`}
      />
    ))}
  </span>
);

/** The rows of operation `getTrends`, its `x-row` in the document. */
import type { Row } from "../base/json.ts";
import type { AnswerOf } from "../contract/types.ts";

type TrendSeries = AnswerOf<"getTrends">["data"][number];

/** Returns a row for each metric of each point of each series. */
export const trendRows = (series: readonly TrendSeries[]): readonly Row[] =>
  series.flatMap(({ facet, value, points }) =>
    points.flatMap(({ metrics, ...point }) =>
      metrics.map(({ name, value: metric_value, sample: metric_sample, null_reason: metric_null_reason = null }) => ({
        ...{ facet, value, start: point.start, end: point.end, days: point.days, level_day: point.level_day },
        ...{ metric: name, metric_value, metric_sample, metric_null_reason },
      })),
    ),
  );

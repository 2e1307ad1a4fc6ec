/** The freshness bar: the shown day and its age, what its delivery brought, silent dealers, and what came on each of the last days. */
import type { JSX } from "preact";
import type { FreshnessReport } from "../../http/service/freshness.ts";
import type { IngestRecord } from "../../lake/ingest-record.ts";
import type { DeliveredDay, PublishedDay } from "../../serving/published-day.ts";
import { age, count, day as dayText, time, weekday } from "./format.ts";
import type { Visitor } from "./visitor.ts";

interface FreshnessBarProps {
  readonly report: FreshnessReport;
  readonly lastIngest: IngestRecord | undefined;
  readonly nowMs: number;
  readonly visitor: Visitor;
}

export const FreshnessBar = (props: FreshnessBarProps): JSX.Element | null => {
  const { status, day, publishedAtMs, brought } = props.report;
  if (day === null) return null;
  const { nowMs } = props;
  return (
    <section class={status === "fresh" ? "fresh" : "fresh stale"} aria-label="Freshness of the data">
      <div class="wrap">
        <span class="pulse">
          <span class={status === "fresh" ? "dot" : "dot bad"} />
          <span>
            <strong>
              <span class="hide-phone">{weekday(day)}, </span>
              {dayText(day)}
            </strong>
            {status === "fresh" && publishedAtMs !== null ? (
              <>
                <span class="hide-phone"> · published {publicationText(day, publishedAtMs)} UTC</span>,{" "}
                {age(nowMs - publishedAtMs)} ago
              </>
            ) : (
              `, ${age(nowMs - Date.parse(day))} old`
            )}
          </span>
        </span>
        {status === "fresh" ? null : <Cause {...props} />}
        {brought === null ? null : <Brought brought={brought} />}
      </div>
    </section>
  );
};

/** Formats the time of a publication: without the day if it is the published one. */
const publicationText = (day: string, atMs: number): string => {
  const text = time(atMs);
  return text.startsWith(day) ? text.slice(day.length + 1) : text;
};

/** Why the data is not fresh, and what to do. Messages of ingest can name paths: operators alone see them. */
const Cause = ({ report: { dueAtMs }, lastIngest, visitor: { identity, isOpen } }: FreshnessBarProps): JSX.Element => {
  const { isOperator } = identity.cached.account;
  const isOwner = isOperator || isOpen;
  return (
    <>
      <span role="status">
        {lastIngest?.error == null
          ? `No later delivery has been published; one was due by ${time(dueAtMs ?? 0)} UTC.`
          : `Ingest failed at ${time(Date.parse(lastIngest.at))} UTC${isOwner ? `: ${lastIngest.error}` : "."}`}{" "}
        {isOwner
          ? "Correct or remove the delivery; the next `carquet ingest` goes on with it."
          : "Searches answer as of this day until the next delivery is published."}
      </span>
      {isOperator ? <a href="/operator">What came</a> : null}
    </>
  );
};

const Brought = ({ brought: { added, changed, left, dealers, silent, days } }: { readonly brought: PublishedDay }) => (
  <>
    <span class="opt">
      <strong>{count(added)}</strong> new · <strong>{count(changed)}</strong> changed · <strong>{count(left)}</strong>{" "}
      left
    </span>
    {silent.length === 0 ? null : (
      <span class="pulse">
        <span class="dot warn" />
        <a href="/dealers?delivery=silent">
          <strong>{count(silent.length)}</strong> <span class="hide-phone">of {count(dealers)} </span>
          {dealers === 1 ? "dealer" : "dealers"} silent
        </a>
      </span>
    )}
    <DayBars days={days} label={`Rows delivered on each of the last ${days.length} days`} />
    <span class="opt tiny muted">{days.length} days</span>
  </>
);

const barWidth = 5;
const barStep = 7;
const barsHeight = 18;

interface DayBarsProps {
  readonly days: readonly Pick<DeliveredDay, "day" | "vins" | "hasFailed">[];
  readonly label: string;
}

/** Rows delivered on each day, the last one marked; days that were expected and not published are hatched. */
export const DayBars = ({ days, label }: DayBarsProps): JSX.Element => {
  const max = Math.max(...days.map(({ vins = 0 }) => vins), 1);
  const failed = days.flatMap(({ day, hasFailed }) => (hasFailed ? [dayText(day)] : []));
  const width = days.length * barStep;
  return (
    <svg
      class="days opt"
      role="img"
      aria-label={`${label}${failed.length === 0 ? "" : `; none on ${failed.join(", ")}`}`}
      width={width}
      height={barsHeight}
      viewBox={`0 0 ${width} ${barsHeight}`}
    >
      {days.map(({ day, vins = 0, hasFailed }, index) => {
        const height = hasFailed ? barsHeight : Math.ceil((barsHeight * vins) / max);
        const x = index * barStep;
        return (
          <g key={day}>
            <title>{`${dayText(day)}: ${hasFailed ? "nothing published" : count(vins, " rows")}`}</title>
            {hasFailed ? (
              <path class="bad" d={`M${x + barWidth / 2} 0v${barsHeight}`} />
            ) : (
              <rect
                class={index === days.length - 1 ? "on" : undefined}
                x={x}
                y={barsHeight - height}
                width={barWidth}
                height={height}
              />
            )}
          </g>
        );
      })}
    </svg>
  );
};

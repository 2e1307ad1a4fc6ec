/** The calendar of feeds: a row for each dealer, a cell for each day, shaded by rows. */
import type { JSX } from "preact";
import type { CalendarDealer, CalendarFeed } from "../../query/quality/calendar.ts";
import type { FeedOverview } from "../../query/quality/feed-overview.ts";
import { Block } from "../shell/blocks.tsx";
import { count, day as dayText, weekday } from "../shell/format.ts";

/** Days that fit a phone; earlier ones are shown on wider screens only. */
const phoneDays = 10;

const marks: Readonly<Record<string, string>> = { held: "!", refused: "×" };

export interface CalendarTableProps {
  readonly overview: FeedOverview;
  readonly href: (changes: Readonly<Record<string, string>>) => string;
}

export const CalendarTable = (props: CalendarTableProps): JSX.Element => {
  const { overview, href } = props;
  const { calendar, days, failed } = overview;
  const shadeOf = shades(calendar.dealers);
  return (
    <Block
      id="calendar"
      title="What came, by dealer and day"
      end={
        <>
          <a href={href({ dealers: "problems" })}>Only with problems</a>
          <a href={href({ dealers: "all" })}>All dealers</a>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Deliveries, table">
        <table class="cal">
          <thead>
            <tr>
              <th class="r">Dealer</th>
              <DayHeads days={days} />
              <th class="sum">VINs</th>
            </tr>
          </thead>
          <tbody>
            {calendar.dealers.map((dealer) => (
              <DealerRow key={dealer.dealerId} {...props} dealer={dealer} shadeOf={shadeOf} />
            ))}
          </tbody>
        </table>
      </section>
      <Legend failed={failed} />
    </Block>
  );
};

const DayHeads = ({ days }: { readonly days: readonly string[] }): JSX.Element => (
  <>
    {days.map((day, index) => (
      <th key={day} class={`d ${widthOf(days, index)}`} title={dayText(day)}>
        {weekday(day)[0]}
        <br />
        {Number(day.slice(-2))}
      </th>
    ))}
  </>
);

const widthOf = (days: readonly string[], index: number): string => (days.length - index > phoneDays ? "old" : "");

interface DealerRowProps extends CalendarTableProps {
  readonly dealer: CalendarDealer;
  readonly shadeOf: (vins: number) => string;
}

const DealerRow = ({ dealer: { dealerId, vins, feeds }, overview, href, shadeOf }: DealerRowProps) => {
  const { days, failed, names, feed: picked } = overview;
  const byDay = new Map(feeds.map((feed) => [feed.day, feed]));
  return (
    <tr>
      <th class="r" scope="row">
        <a class="plain" href={href({ dealer: dealerId })}>
          {names.get(dealerId)}
        </a>
      </th>
      {days.map((day, index) => {
        const feed = byDay.get(day);
        const shade = failed.includes(day)
          ? "failed"
          : feed?.state === "came"
            ? shadeOf(feed.vins)
            : (feed?.state ?? "none");
        const isPicked = picked?.dealerId === dealerId && picked.day === day;
        return (
          <td key={day} class={`c ${widthOf(days, index)}`}>
            <Cell feed={feed} class={isPicked ? `${shade} pick` : shade} href={href({ dealer: dealerId, day })} />
          </td>
        );
      })}
      <td class="sum">{count(vins)}</td>
    </tr>
  );
};

interface CellProps {
  readonly feed: CalendarFeed | undefined;
  readonly class: string;
  readonly href: string;
}

/** One feed; problems lead to their details. */
const Cell = ({ feed, class: className, href }: CellProps): JSX.Element => {
  const { state = "none", vins } = feed ?? {};
  if (state !== "came" && state !== "none")
    return (
      <a class={className} href={href} aria-label={state}>
        {marks[state]}
      </a>
    );
  const text = state === "came" ? count(vins) : state;
  return (
    <i class={className} title={text}>
      <span class="vh">{feed === undefined ? "" : text}</span>
    </i>
  );
};

/** Returns the class of a number of rows: thirds of all feeds that came. */
function shades(dealers: readonly CalendarDealer[]): (vins: number) => string {
  const sizes = dealers.flatMap(({ feeds }) => feeds.flatMap(({ state, vins }) => (state === "came" ? [vins] : [])));
  sizes.sort((a, b) => a - b);
  const bounds = [1, 2].map((third) => sizes[Math.floor((sizes.length * third) / 3)] ?? 0);
  return (vins) => `d${1 + bounds.filter((bound) => vins >= bound).length}`;
}

const legend: readonly (readonly [name: string, text: string])[] = [
  ["d1", "few"],
  ["d2", "more"],
  ["d3", "most rows"],
  ["silent", "silent"],
  ["held", "held"],
  ["refused", "refused"],
  ["none", "not expected"],
];

const Legend = ({ failed }: { readonly failed: readonly string[] }): JSX.Element => (
  <p class="legend">
    {[
      ...legend,
      ...(failed.length === 0 ? [] : [["failed", `nothing published: ${failed.map(dayText).join("; ")}`] as const]),
    ].map(([name, text]) => (
      <span key={name}>
        <i class={name}>{marks[name]}</i>
        {text}
      </span>
    ))}
  </p>
);

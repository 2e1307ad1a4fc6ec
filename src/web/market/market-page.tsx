/** The market: one search, or two side by side, over time. The verdict, the boxes, the figures, the days; and the same on a map. */
import type { JSX } from "preact";
import type { SiteServices } from "../../http/service/service-state.ts";
import { queryString } from "../../operations/caller.ts";
import { seriesColors as colors } from "../charts/marks.tsx";
import { Button } from "../components/button.tsx";
import { Chips, Segments } from "../components/chips.tsx";
import { Field } from "../components/field.tsx";
import { Note } from "../components/sheet.tsx";
import { marketVerdict } from "../sentences/market.ts";
import type { Judgement } from "../sentences/sentence.ts";
import { andList } from "../sentences/words.ts";
import type { PageContent } from "../shell/document.tsx";
import { pageParameters } from "../shell/page-parameters.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler, Redirect } from "../shell/pages.tsx";
import { Verdict } from "../shell/verdict.tsx";
import { equivalentSql, sqlText } from "../shop/equivalent-sql.ts";
import { chosenFilters, type LostFilter, lostFilter, whyLost } from "../shop/filter-words.ts";
import { withoutFilters } from "../shop/view.ts";
import { DaysSheet } from "./days-table.tsx";
import { DaysFigure, FactsSheet, LossFigure } from "./market-figures.tsx";
import {
  carsPath,
  givenFilters,
  isReadable,
  type MarketDays,
  type MarketSearch,
  marketPath,
  placeOf,
  readBoxes,
  sampleOf,
  searchesOf,
  searchTitle,
} from "./market-search.ts";
import {
  loadTrend,
  periodIn,
  type SearchTrend,
  type ShownMarket,
  sideOf,
  spokenPeriod,
  trendPeriod,
} from "./market-trends.ts";
import { countStates, MapFigure } from "./state-map.tsx";

type Services = Pick<SiteServices, "current">;

const daysOf = ({ current }: Services): Promise<MarketDays> =>
  current.use(async ({ manifest: { as_of, days, currency } }) => ({
    first: Object.keys(days).sort()[0] ?? as_of,
    last: as_of,
    everywhere: currency === "USD" ? "United States" : "all places",
  }));

/** Returns the handler of `/market`. */
export const marketPage =
  (services: Services): PageHandler =>
  async ({ requests, query: asked }): Promise<PageContent | Redirect> => {
    const { year, min_year, max_year } = givenFilters(asked);
    if (asked.has("year") && year === undefined) return { location: marketPath(asked, { year, min_year, max_year }) };
    const days = await daysOf(services);
    const { searches, maps, shown, lost } = await loadMarket(requests, asked, days);
    const { query, trends } = shown;
    const others = new Set(trends.flatMap((trend) => trend.others));
    return {
      title: searchTitle(searches),
      door: "market",
      question: query.has("show") ? searches.map(({ words }) => words).join(" against ") : undefined,
      faults: lost.map((one) => whyLost(givenFilters(asked), one)),
      top: <Verdict kicker={kickerOf(searches.filter(isReadable), days)} judgement={judgementOf(shown)} />,
      body: (
        <>
          <Boxes searches={searches} query={query} />
          {others.size === 0 ? null : (
            <Note>{`Prices over time have no filter by ${andList([...others])}: these figures are without it.`}</Note>
          )}
          {query.get("view") === "map" ? (
            <div class={maps.length > 1 ? "two" : "stack"}>
              {maps.map((counted, index) => (
                <MapFigure key={index} counted={counted} query={query} color={colors[index] ?? "petrol"} />
              ))}
            </div>
          ) : trends.length === 0 ? null : (
            <Charts market={shown} />
          )}
        </>
      ),
      sql: shown.sql,
    };
  };

/** Loads the market of an address without the filters that the API refuses, which are `lost`. */
async function loadMarket(requests: PageRequests, query: URLSearchParams, days: MarketDays) {
  const boxes = await readBoxes(requests, query);
  requests.endLookUp();
  const lost: LostFilter[] = [];
  for (let rest = query; ; ) {
    const given = givenFilters(rest);
    const searches = searchesOf(boxes, given, days);
    try {
      return { ...(await loadSearches(requests, rest, searches, days)), searches, lost };
    } catch (thrown) {
      const refused = lostFilter(thrown, given);
      if (refused === undefined) throw thrown;
      lost.push(refused);
      const left = Object.keys(withoutFilters(given, refused.names));
      const removed = Object.keys(given).filter((name) => !left.includes(name));
      rest = new URLSearchParams([...rest].filter(([name]) => !removed.includes(name)));
    }
  }
}

/** Loads the days of searches, and their states for the map. */
async function loadSearches(
  requests: PageRequests,
  query: URLSearchParams,
  searches: readonly MarketSearch[],
  days: MarketDays,
) {
  const period = trendPeriod(query, days);
  const readable = searches.filter(isReadable);
  const [loaded, maps] = await Promise.all([
    Promise.all(readable.map((search) => loadTrend(requests, search, period, days))),
    Promise.all(query.get("view") === "map" ? readable.map((search) => countStates(requests, search)) : []),
  ]);
  const trends = loaded.filter((trend) => trend !== undefined);
  const sides = trends.map((trend) => sideOf(trend, period));
  const statements = statementsOf(trends, period.from);
  const shown: ShownMarket = { trends, sides, period: spokenPeriod(trends, period), query, ...statements };
  return { shown, maps: maps.filter((states) => states !== undefined) };
}

const judgementOf = ({ trends, sides, period }: ShownMarket): Judgement =>
  trends.length === 0 ? { sentence: ["This market cannot be shown."] } : marketVerdict(sides, period);

function kickerOf([own, ...others]: readonly MarketSearch[], days: MarketDays): string {
  if (own === undefined) return "Market";
  const samples = [...new Set([own, ...others].map(sampleOf))];
  const places = [...new Set([own, ...others].map((search) => placeOf(search, days)))];
  return ["Market", samples.join(" against "), places.join(" against ")].join(" · ");
}

/** Returns the statements of the days and of the prices by model year of all searches; undefined for filters that columns do not express. */
const statementsOf = (trends: readonly SearchTrend[], from: string): Pick<ShownMarket, "sql" | "lossSql"> => ({
  sql: unionOf(
    trends,
    (name) =>
      `snapshot_date, ${name} AS search,\n  median(price) AS price, count(*) AS cars, median(days_on_market) AS days\nFROM active_days`,
    `snapshot_date >= '${from}'`,
  ),
  lossSql: unionOf(
    trends.filter(({ loss }) => loss !== undefined),
    (name) => `concat(year, ' ', ${name}) AS model_year, median(price) AS price, count(*) AS cars\nFROM active`,
    "price > 0 AND year IS NOT NULL",
  ),
});

/** Returns the union of what is selected of each search, by its name in SQL, under a condition. */
function unionOf(
  trends: readonly SearchTrend[],
  selectionOf: (name: string) => string,
  condition: string,
): string | undefined {
  const statements = trends.map(({ search: { filters, name } }) => {
    const [, where] =
      equivalentSql({ path: "/v1/listings", querystring: queryString(filters) })?.split("\nFROM active") ?? [];
    if (where === undefined) return undefined;
    const conditions = `${condition}${where.replace(/^\nWHERE /, "\n  AND ")}`;
    return `SELECT ${selectionOf(sqlText(name))}\nWHERE ${conditions}\nGROUP BY ALL`;
  });
  return statements.length === 0 || statements.includes(undefined)
    ? undefined
    : `${statements.join("\nUNION ALL\n")}\nORDER BY 1, 2`;
}

interface BoxesProps {
  readonly searches: readonly MarketSearch[];
  readonly query: URLSearchParams;
}

/** The two boxes, with the filters of the address as chips, the period, and the views. */
const Boxes = ({ searches: [own, other], query }: BoxesProps): JSX.Element => {
  const kept = [...query].filter(([name]) => !["show", "against", "view", "numbers"].includes(name));
  const period = periodIn(query);
  const view = query.get("view") ?? "";
  const chips = chosenFilters(own?.given ?? {}).map(({ text, names }) => ({
    text,
    state: "on" as const,
    path: marketPath(query, Object.fromEntries(names.map((name) => [name, undefined]))),
  }));
  return (
    <>
      <form class="line boxes" action="/market">
        {kept.map(([name, value]) => (
          <input key={`${name}=${value}`} type="hidden" name={name} value={value} />
        ))}
        <Field
          label={<span class={`ink-${colors[0]}`}>Show</span>}
          name="show"
          value={own?.words ?? ""}
          placeholder="used Toyota RAV4"
          error={own?.error}
        />
        <Field
          label={<span class={`ink-${colors[1]}`}>against</span>}
          name="against"
          value={other?.words ?? ""}
          placeholder="nothing: one search alone"
          error={other?.error}
        />
        <Button look="main">Show</Button>
        <Segments
          label="Period"
          segments={pageParameters["/market"].days.map((days, index) => ({
            path: marketPath(query, { days: index === 0 ? undefined : days }),
            text: days === "365" ? "1 year" : `${days} days`,
            isCurrent: days === period,
          }))}
        />
        <Segments
          label="Views"
          segments={views.map(({ name, text }) => ({
            path: marketPath(query, { view: name === "" ? undefined : name }),
            text,
            isCurrent: name === view,
          }))}
        />
      </form>
      {chips.length === 0 ? null : <Chips label="Filters" chips={chips} />}
    </>
  );
};

const views = [
  { name: "", text: "Charts" },
  { name: "table", text: "Days" },
  { name: "map", text: "Map" },
] as const;

const Charts = ({ market }: { readonly market: ShownMarket }): JSX.Element => {
  const { trends, sides, query } = market;
  if (query.get("view") === "table") return <DaysSheet market={market} />;
  if (sides.every(({ cars }) => cars === 0))
    return (
      <>
        <Note>
          {`No ${sides[0]?.name ?? "car"} is for sale. `}
          <a href={trends[0] === undefined ? "/shop" : carsPath(trends[0].search)}>What would show more</a>
        </Note>
        <DaysSheet market={market} />
      </>
    );
  const hasLoss = trends.some(({ loss }) => loss !== undefined);
  return (
    <>
      <div class="wide2">
        <DaysFigure market={market} id="price" />
        <FactsSheet market={market} />
      </div>
      <div class="two">
        {hasLoss ? <LossFigure market={market} /> : <DaysSheet market={market} />}
        <DaysFigure market={market} id="days" />
      </div>
      {hasLoss ? <DaysSheet market={market} /> : null}
    </>
  );
};

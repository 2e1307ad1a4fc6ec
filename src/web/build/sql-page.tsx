/** SQL: a statement over the views of the lake, its result as a chart and a table, and as a file. It runs and is charged as operation `runSql`. */
import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { JSX } from "preact";
import { prices } from "../../accounts/policy/prices.ts";
import type { InnerRequest } from "../../http/inner-requests.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { CodeBox } from "../components/code-box.tsx";
import { Area } from "../components/field.tsx";
import { Note } from "../components/sheet.tsx";
import type { PageContent } from "../shell/document.tsx";
import { amountOf, count, usd } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler, SentFile } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { docsPath } from "./operation-docs.ts";
import { messageIn, microsOf } from "./send.ts";
import { readRows, type SqlResult, SqlResultView } from "./sql-result.tsx";

const views = ["active", "active_days", "claims", "price_changes", "sold", "builds", "dealers"] as const;

const examples: readonly (readonly [title: string, statement: string])[] = [
  [
    "Fastest SUVs",
    `SELECT make || ' ' || model AS model, count(*) AS cars,
       median(price) AS median_price,
       median(days_on_market) AS days_listed,
       round(100 * avg((price_drops > 0)::int)) AS reduced_pct
FROM active
WHERE inventory_type <> 'new' AND body_type = 'SUV'
GROUP BY 1 HAVING count(*) >= 60 ORDER BY days_listed`,
  ],
  [
    "Price by age",
    `SELECT year::VARCHAR AS model_year, median(price) AS median_price, count(*) AS cars
FROM active
WHERE inventory_type <> 'new'
GROUP BY 1 ORDER BY 1 DESC LIMIT 12`,
  ],
  [
    "Cuts this week",
    `SELECT make, count(*) AS cuts, round(avg(price_before - price)) AS mean_cut_price
FROM price_changes
WHERE price < price_before AND date > (SELECT max(date) FROM price_changes) - INTERVAL 7 DAY
GROUP BY make ORDER BY cuts DESC LIMIT 12`,
  ],
  [
    "Who sells EVs",
    `SELECT dealer_name, count(*) AS electric_cars, median(price) AS median_price
FROM active
WHERE fuel_type ILIKE '%electric%'
GROUP BY dealer_name ORDER BY electric_cars DESC LIMIT 12`,
  ],
];

const pathOf = (statement: string): string => `/sql?${new URLSearchParams({ statement })}`;

/** Returns the page with the statement as programs send it. */
const samplePath = (statement: string, language: string): string =>
  `${docsPath("runSql")}?${new URLSearchParams({ body: JSON.stringify({ sql: statement }), language })}`;

/** What a page of SQL shows besides the statement. */
interface SqlPageProps {
  readonly services: SiteServices;
  readonly visitor: Visitor;
  readonly statement: string;
  readonly result?: SqlResult;
  readonly error?: string;
  /** The idempotency key of the run: another chart or order of its result is not charged again. */
  readonly run: string;
}

/** The page before a statement runs. */
export const showSql =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) =>
    sqlPage({ services, visitor, statement: query.get("statement") ?? examples[0]?.[1] ?? "", run: randomUUID() });

async function sqlPage(props: SqlPageProps): Promise<PageContent> {
  const { services, visitor, statement, result } = props;
  const { sqlDeadlineMs } = services.exports;
  const day = await services.current.use(async ({ manifest }) => manifest);
  const price = visitor.isOpen ? "" : ` ${usd(prices.sql_statement)} each started second.`;
  const seconds = sqlDeadlineMs / 1000;
  return {
    title: "SQL",
    door: "build",
    status: props.error === undefined ? 200 : 422,
    address: pathOf(statement),
    day: day.as_of,
    ...(result?.micros === undefined ? {} : { micros: result.micros }),
    top: (
      <Verdict
        kicker={<Kicker above={[["/docs", "Build"]]} here="SQL" />}
        judgement={{
          sentence: ["Ask the market in SQL"],
          context: [
            `Read-only, over the newest day and all days before.${seconds === 0 ? "" : ` A query may take ${seconds} seconds.${price}`}`,
          ],
        }}
      />
    ),
    body: (
      <div class="docs two-cols sql">
        <nav class="side" aria-label="Tables and examples">
          <b>Tables</b>
          {views.map((view) => (
            <a
              key={view}
              href={pathOf(`SELECT * FROM ${view} LIMIT 20`)}
              aria-current={new RegExp(`\\bFROM ${view}\\b`).test(statement) ? "true" : undefined}
            >
              {view} {view === "active" ? <small>{count(day.days[day.as_of])}</small> : null}
            </a>
          ))}
          <a href="/docs/guides/sql">All tables</a>
          <b>Examples</b>
          {examples.map(([title, example]) => (
            <a key={title} href={pathOf(example)}>
              {title}
            </a>
          ))}
        </nav>
        <div class="stack">{sqlDeadlineMs === 0 ? <Off statement={statement} /> : <Query {...props} />}</div>
      </div>
    ),
  };
}

/** What is said where the operator has not turned SQL on. */
const Off = ({ statement }: { readonly statement: string }): JSX.Element => (
  <>
    <Note isAlert>
      SQL is off on this service. Its operator turns it on with <code>--sql-deadline 10</code>, or{" "}
      <code>CARQUET_SQL_DEADLINE=10</code>: the seconds that a query may take. On the machine with the lake,{" "}
      <a href="/docs/guides/sql">carquet sql</a> runs the same.
    </Note>
    <CodeBox title="Query" code={statement} language="sql" />
  </>
);

const queryForm = "query";

const Query = ({ visitor, statement, result, error, run }: SqlPageProps): JSX.Element => (
  <>
    <Form visitor={visitor} action="/sql" id={queryForm} class="stack near" hidden={{ run }}>
      <Area
        label="Query"
        name="statement"
        rows={9}
        spellcheck={false}
        maxLength={12_000}
        required
        value={statement}
        error={error}
      />
      <div class="line">
        <Button look="main">Run</Button>
        <button type="button" class="btn js-only" data-copy-link={pathOf(statement)}>
          Copy the link
        </button>
        {["curl", "Python"].map((language) => (
          <Button key={language} look="quiet" href={samplePath(statement, language)}>
            {language}
          </Button>
        ))}
        {result === undefined ? null : (
          <small class="end">
            {amountOf(result.total, "row")}
            {result.micros === undefined || result.micros === 0 ? "" : ` · ${usd(result.micros)}`}
          </small>
        )}
      </div>
    </Form>
    {result === undefined ? null : <SqlResultView result={result} form={queryForm} />}
  </>
);

/** Returns the request that runs a statement: an edited statement is another run. */
const requestOf = (statement: string, format: string, run: string): InnerRequest => ({
  operation: "runSql",
  method: "POST",
  target: `/v1/sql?format=${format}`,
  headers: {
    "content-type": "application/json",
    "idempotency-key": `${run}.${createHash("sha256").update(statement).digest("hex").slice(0, 32)}`,
  },
  body: JSON.stringify({ sql: statement }),
});

const runPattern = /^[\w-]{1,64}$/;

/** Runs the statement of the form, and shows its result, or what is wrong beside it. */
export const runSqlByForm =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm): Promise<PageContent> => {
    const statement = (fields.get("statement") ?? "").replaceAll("\r\n", "\n");
    const sent = fields.get("run") ?? "";
    // Only another chart or order of a result runs under its key again.
    const run = (fields.has("column") || fields.has("sort")) && runPattern.test(sent) ? sent : randomUUID();
    const page = { services, visitor, statement, run };
    return services.sendRequest(context, visitor.identity, requestOf(statement, "ndjson", run), async (answer) => {
      if (answer.status !== 200) return sqlPage({ ...page, error: await messageIn(answer.body) });
      const { rows, columns } = await readRows(answer.body);
      const result: SqlResult = {
        rows,
        columns,
        total: Number(answer.header("X-Total-Count")),
        micros: microsOf(answer.header),
        column: fields.get("column") ?? undefined,
        sort: fields.get("sort") ?? undefined,
      };
      return sqlPage({ ...page, result });
    });
  };

const fileFormats = new Map([
  ["csv", "text/csv; charset=utf-8"],
  ["parquet", "application/vnd.apache.parquet"],
  ["arrow", "application/vnd.apache.arrow.stream"],
]);

/** Runs the statement of the form again, and sends its result as a file. */
export const sendSqlFile =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm): Promise<PageContent | SentFile> => {
    const statement = fields.get("statement") ?? "";
    const format = fields.get("format") ?? "";
    const type = fileFormats.get(format);
    const run = randomUUID();
    const page = { services, visitor, statement, run };
    if (type === undefined)
      return sqlPage({ ...page, error: `Unknown format ${format}: expected csv, parquet or arrow.` });
    const request = requestOf(statement, format, run);
    return services.sendRequest(context, visitor.identity, request, async ({ status, body }) => {
      if (status !== 200 || !(body instanceof Readable)) return sqlPage({ ...page, error: await messageIn(body) });
      return { file: body, type, name: `result.${format}` };
    });
  };

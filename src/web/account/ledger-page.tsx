/** The ledger in the dashboard: entries by key, kind and days, newest first, in pages and as CSV. */
import { Readable } from "node:stream";
import type { JSX } from "preact";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import type { EntryFilter, EntryPage, LedgerEntry } from "../../accounts/ledger/entry-pages.ts";
import { formatUsd } from "../../accounts/money.ts";
import { isDay } from "../../base/day.ts";
import { refuse } from "../../contract/errors.ts";
import { csvLines, escapeFormula } from "../../formats/table-formats.ts";
import type { Middleware } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Field, Select } from "../components/field.tsx";
import { Block } from "../shell/blocks.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { visitorOf } from "../shell/visitor.ts";
import { beforeIn, CursorPages } from "./cursor-pages.tsx";
import { dashboardPage } from "./dashboard-page.tsx";
import { EntryTable, kindsOfEntries, purposeOf } from "./entry-table.tsx";

const path = "/dashboard/ledger";
const pageEntries = 50;
/** Entries that the CSV reads at once: few, because other requests wait while a chunk is encoded. */
const chunkEntries = 500;
/** Bytes of CSV that wait for the client. */
const csvBufferBytes = 65_536;

export const ledgerPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const before = beforeIn(query);
    const { accountId } = visitor.identity.key;
    const filter = filterOf(query);
    const [keys, found] = await Promise.all([
      administration.call("listKeys", { accountId }),
      administration.call("listEntryPage", { accountId, before, limit: pageEntries + 1, ...filter }),
    ]);
    const entries = found.slice(0, pageEntries);
    const chosen = new URLSearchParams(
      filterFields.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])),
    );
    return dashboardPage(
      path,
      "Ledger",
      <Block
        id="entries"
        title="Entries, newest first"
        end={<a href={`${path}.csv?${chosen}`}>CSV of these entries</a>}
      >
        <Filters keys={keys} filter={filter} />
        <EntryTable entries={entries} keys={keys} />
        <p class="sub">
          The id of a request is the <code>X-Request-Id</code> of its response. The service's log has its filters under
          that id.
        </p>
        <CursorPages
          label="Pages of the ledger"
          path={path}
          query={chosen}
          before={before}
          last={found.length > pageEntries ? entries.at(-1)?.entry : undefined}
        />
      </Block>,
    );
  };

const filterFields = ["what", "key", "from", "to"] as const;

/** Parses the filter of an address. Refuses an unknown kind and an invalid day with `invalid_parameter_value`. */
function filterOf(query: URLSearchParams): EntryFilter {
  const [what, keyId, from, to] = filterFields.map((name) => query.get(name)?.trim() || undefined);
  for (const [parameter, value, isValid, allowed] of [
    ["what", what, (text: string) => kindsOfEntries.includes(text), kindsOfEntries.join(", ")],
    ["from", from, isDay, "a day such as 2026-11-19"],
    ["to", to, isDay, "a day such as 2026-11-19"],
  ] as const) {
    if (value === undefined || isValid(value)) continue;
    throw refuse("invalid_parameter_value", { parameter, value: JSON.stringify(value), allowed, hint: "" });
  }
  return { what, keyId, from, to };
}

const all = ["", "All"] as const;

const Filters = ({
  keys,
  filter: { what, keyId, from, to },
}: {
  readonly keys: readonly UsedKey[];
  readonly filter: EntryFilter;
}): JSX.Element => (
  <form class="inline" action={path} method="get">
    <Select
      label="What"
      name="what"
      value={what}
      options={[all, ...kindsOfEntries.map((kind) => [kind, purposeOf(kind)] as const)]}
    />
    <Select
      label="Key"
      name="key"
      value={keyId}
      options={[all, ...keys.map((key) => [key.keyId, key.name || key.keyId] as const)]}
    />
    <Field label="From day, UTC" type="date" name="from" value={from} />
    <Field label="To day" type="date" name="to" value={to} />
    <button type="submit">Filter</button>
    <a class="btn quiet" href={path}>
      All entries
    </a>
  </form>
);

/** Serves the entries of the visitor's account that the page with the same query has, as CSV. */
export const ledgerCsv =
  (services: SiteServices): Middleware =>
  async (context) => {
    const visitor = await visitorOf(context, services, "download");
    if (visitor === undefined) return context.redirect("/sign-in");
    const { accountId } = visitor.identity.key;
    const lines = csvOf(services, { accountId, ...filterOf(new URLSearchParams(context.querystring)) });
    context.set("Content-Type", "text/csv; charset=utf-8");
    context.set("Content-Disposition", 'attachment; filename="ledger.csv"');
    context.set("Cache-Control", "private, no-store");
    // Koa's pipeline adds several listeners to those of the middleware; Node.js warns of more than ten.
    context.res.setMaxListeners(20);
    context.body = Readable.from(lines, { objectMode: false, highWaterMark: csvBufferBytes });
  };

const columns = ["time", "entry_id", "kind", "usd", "usage_class", "key_id", "reference", "note"] as const;

async function* csvOf(
  { accounts: { administration } }: SiteServices,
  list: Omit<EntryPage, "before" | "limit">,
): AsyncGenerator<string> {
  yield csvLines([columns]);
  for (let before: number | null = null; ; ) {
    const page = { ...list, before, limit: chunkEntries };
    const entries: readonly LedgerEntry[] = await administration.call("listEntryPage", page);
    yield csvLines(entries.map(csvRow));
    const last = entries.at(-1);
    if (entries.length < chunkEntries || last === undefined) return;
    before = last.entry;
  }
}

const csvRow = ({ atMs, entryId, kind, micros, usageClass, keyId, reference, note }: LedgerEntry) => [
  ...[new Date(atMs).toISOString(), entryId, kind, formatUsd(micros), usageClass ?? undefined, keyId ?? undefined],
  ...[reference, note].map((text) => (text === null ? undefined : escapeFormula(text))),
];

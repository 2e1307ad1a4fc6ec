/** The ledger in the dashboard: pages of entries, newest first, and all of them as CSV. */
import { Readable } from "node:stream";
import type { JSX } from "preact";
import type { LedgerEntry } from "../../accounts/ledger/entry-pages.ts";
import { formatUsd } from "../../accounts/money.ts";
import { csvLines, escapeFormula } from "../../formats/csv.ts";
import type { Middleware } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { signedAmount, time } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { visitorOf } from "../shell/visitor.ts";
import { dashboardPage, ScrollingTable } from "./dashboard-page.tsx";

const path = "/dashboard/ledger";
const pageEntries = 50;
/** Entries that the CSV reads at once: few, because other requests wait while a chunk is encoded. */
const chunkEntries = 500;
/** Bytes of CSV that wait for the client. */
const csvBufferBytes = 65_536;

export const ledgerPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const before = beforeOf(query.get("before"));
    const { accountId } = visitor.identity.key;
    const found = await administration.call("listEntryPage", { accountId, before, limit: pageEntries + 1 });
    const entries = found.slice(0, pageEntries);
    const last = entries.at(-1);
    return dashboardPage(
      path,
      "Ledger",
      <>
        <p class="muted">
          Every entry, newest first. Times are UTC. <a href={`${path}.csv`}>All entries as CSV</a>
        </p>
        <EntryTable entries={entries} />
        <nav class="page-links" aria-label="Pages of the ledger">
          {before === null ? null : <a href={path}>Newest</a>}
          {found.length > pageEntries && last !== undefined ? <a href={`${path}?before=${last.entry}`}>Older</a> : null}
        </nav>
      </>,
    );
  };

/** Parses the entry below which a page begins; null for the newest page. */
const beforeOf = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

export const EntryTable = ({ entries }: { readonly entries: readonly LedgerEntry[] }): JSX.Element => (
  <ScrollingTable label="Entries">
    <thead>
      <tr>
        <th>Time</th>
        <th>Entry</th>
        <th>Details</th>
        <th>Key</th>
        <th class="num">USD</th>
      </tr>
    </thead>
    <tbody>
      {entries.map((entry) => (
        <tr key={entry.entry}>
          <td class="time">{time(entry.atMs)}</td>
          <td>{entry.kind.replaceAll("_", " ")}</td>
          <td>{detailsOf(entry)}</td>
          <td>{entry.keyId === null ? null : <code>{entry.keyId}</code>}</td>
          <td class="num">{signedAmount(entry.micros)}</td>
        </tr>
      ))}
    </tbody>
  </ScrollingTable>
);

const detailsOf = ({ usageClass, reference, note }: LedgerEntry): string =>
  [usageClass, reference, note].filter((part) => part !== null).join(", ");

/** Serves all entries of the visitor's account as CSV, newest first. */
export const ledgerCsv =
  (services: SiteServices): Middleware =>
  async (context) => {
    const visitor = await visitorOf(context, services, "download");
    if (visitor === undefined) return context.redirect("/sign-in");
    context.set("Content-Type", "text/csv; charset=utf-8");
    context.set("Content-Disposition", 'attachment; filename="ledger.csv"');
    context.set("Cache-Control", "private, no-store");
    const lines = csvOf(services, visitor.identity.key.accountId);
    // Koa's pipeline adds several listeners to those of the middleware; Node.js warns of more than ten.
    context.res.setMaxListeners(20);
    context.body = Readable.from(lines, { objectMode: false, highWaterMark: csvBufferBytes });
  };

const columns = ["time", "entry_id", "kind", "usd", "usage_class", "key_id", "reference", "note"] as const;

async function* csvOf({ accounts: { administration } }: SiteServices, accountId: string): AsyncGenerator<string> {
  yield csvLines([columns]);
  for (let before: number | null = null; ; ) {
    const entries: readonly LedgerEntry[] = await administration.call("listEntryPage", {
      accountId,
      before,
      limit: chunkEntries,
    });
    yield csvLines(entries.map(csvRow));
    const last = entries.at(-1);
    if (entries.length < chunkEntries || last === undefined) return;
    before = last.entry;
  }
}

const csvRow = ({ atMs, entryId, kind, micros, ...entry }: LedgerEntry): readonly (string | undefined)[] => {
  const { usageClass, keyId, reference, note } = entry;
  const texts = [reference, note].map((text) => (text === null ? undefined : escapeFormula(text)));
  const cells = [new Date(atMs).toISOString(), entryId, kind, formatUsd(micros), usageClass ?? undefined];
  return [...cells, keyId ?? undefined, ...texts];
};

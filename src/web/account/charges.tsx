/** Every charge and credit of an account: newest first, in pages and as CSV. */
import type { JSX } from "preact";
import { dayOf } from "../../accounts/clock.ts";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import { type LedgerEntry, listEntryPage } from "../../accounts/ledger/entry-pages.ts";
import { listEntries } from "../../accounts/ledger/ledger.ts";
import { formatUsd } from "../../accounts/money.ts";
import { exportUnitRows } from "../../accounts/policy/prices.ts";
import { integerIn } from "../../base/json.ts";
import { escapeFormula } from "../../formats/table-formats.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { TableSheet } from "../components/table-sheet.tsx";
import { capital } from "../sentences/words.ts";
import { csvOfChunks, type Download } from "../shell/file-download.ts";
import { chargeText, count, plainWords, shortTime, signedAmount } from "../shell/format.ts";
import { cursorPage } from "./cursor-pages.tsx";

const pageEntries = 12;

/** Usage classes whose names are no words. */
const classWords: ReadonlyMap<string, string> = new Map([
  ["facet_counts", "Counts by attribute"],
  ["trend_series", "Trends"],
  ["sql_statement", "SQL"],
]);

/** Returns what entries of a usage class, or of another kind, are for: `Listing search, historical`, `Paid`. */
export function purposeOf(kind: string): string {
  const [, name = "", ...variants] = /^(.*?)(_dealer_filtered)?(_historical|_enriched)?$/.exec(kind) ?? [];
  return [classWords.get(name) ?? capital(name), ...variants.filter(Boolean)].join(",").replaceAll("_", " ");
}

/** Describes how much a charge of several units is for. */
const extentOf = ({ usageClass, units }: LedgerEntry): string | null => {
  if (units === null || usageClass === null) return null;
  if (usageClass === "sql_statement") return `${count(units)} s`;
  return usageClass.startsWith("listing_export") ? `up to ${count(units * exportUnitRows)} rows` : null;
};

/** Returns what was credited to an account in all. */
export async function creditsOf({ accounts: { administration } }: SiteServices, accountId: string): Promise<number> {
  const credits = await administration.call(listEntries, accountId);
  return credits.reduce((sum, credit) => sum + integerIn(credit, "micros"), 0);
}

/** Returns the sheet of a page of charges and credits, which begins where the address of the account's page says. */
export async function chargesSheet(
  { accounts: { administration } }: SiteServices,
  accountId: string,
  keys: readonly UsedKey[],
  query: URLSearchParams,
): Promise<JSX.Element> {
  const { rows, links } = await cursorPage(
    { path: "/account", id: "charges", query, rowsMax: pageEntries, numberOf: ({ entry }: LedgerEntry) => entry },
    (part) => administration.call(listEntryPage, { accountId, ...part }),
  );
  const names = new Map(keys.map(({ keyId, isWeb, name }) => [keyId, isWeb ? "these pages" : name || keyId]));
  return (
    <TableSheet
      id="charges"
      title="Every charge"
      end={<a href="/account/charges.csv">CSV</a>}
      tools={links}
      label="Charges"
      columns={[
        { title: "When, UTC", cell: ({ atMs }) => shortTime(atMs, dayOf(administration.nowMs)) },
        {
          title: "What",
          cell: (entry) => (
            <span title={entry.kind === "charge" ? `Request ${entry.entryId}` : undefined}>
              {plainWords(purposeOf(entry.usageClass ?? entry.kind), extentOf(entry), entry.reference, entry.note)}
            </span>
          ),
        },
        { title: "Key", cell: ({ keyId }) => names.get(keyId ?? "") ?? keyId },
        {
          title: "Amount",
          isNumber: true,
          cell: ({ micros, kind }) => (kind === "charge" ? chargeText(-micros) : signedAmount(micros)),
        },
      ]}
      rows={rows}
      empty="Nothing has been charged yet."
    />
  );
}

/** Returns the entries of the visitor's account as CSV. */
export const chargesCsv =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor }: Download) => {
    const { accountId } = visitor.identity.key;
    const read = (after: LedgerEntry | null, limit: number): Promise<readonly LedgerEntry[]> =>
      administration.call(listEntryPage, { accountId, before: after?.entry ?? null, limit });
    return { name: "charges.csv", content: csvOfChunks(columns, read, csvRow) };
  };

const columns = ["time", "entry_id", "kind", "usd", "usage_class", "key_id", "reference", "note"] as const;

const csvRow = ({ atMs, entryId, kind, micros, usageClass, keyId, reference, note }: LedgerEntry) => [
  ...[new Date(atMs).toISOString(), entryId, kind, formatUsd(micros), usageClass ?? undefined, keyId ?? undefined],
  ...[reference, note].map((text) => (text === null ? undefined : escapeFormula(text))),
];

/** Every charge and credit of an account: the newest first, all as CSV. */
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
import { csvOfChunks } from "../shell/file-download.ts";
import { chargeText, count, plainWords, shortTime, signedAmount } from "../shell/format.ts";
import type { PageVisit } from "../shell/pages.tsx";

const shownEntries = 20;

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

/** Returns the sheet of the newest charges and credits. */
export async function chargesSheet(
  { accounts: { administration } }: SiteServices,
  accountId: string,
  keys: readonly UsedKey[],
): Promise<JSX.Element> {
  const entries = await administration.call(listEntryPage, { accountId, before: null, limit: shownEntries });
  const names = new Map(keys.map(({ keyId, isWeb, name }) => [keyId, isWeb ? "these pages" : name || keyId]));
  return (
    <TableSheet
      id="charges"
      title="Every charge"
      of={entries.length < shownEntries ? undefined : `The newest ${shownEntries} are shown; the file has all.`}
      end={<a href="/account/charges.csv">CSV</a>}
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
      rows={entries}
      empty="Nothing has been charged yet."
    />
  );
}

/** Returns the entries of the visitor's account as CSV. */
export const chargesCsv =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor }: PageVisit) => {
    const { accountId } = visitor.identity.key;
    const read = (after: LedgerEntry | null, limit: number): Promise<readonly LedgerEntry[]> =>
      administration.call(listEntryPage, { accountId, before: after?.entry ?? null, limit });
    return { name: "charges.csv", file: csvOfChunks(columns, read, csvRow) };
  };

const columns = ["time", "entry_id", "kind", "usd", "usage_class", "key_id", "reference", "note"] as const;

const csvRow = ({ atMs, entryId, kind, micros, usageClass, keyId, reference, note }: LedgerEntry) => [
  ...[new Date(atMs).toISOString(), entryId, kind, formatUsd(micros), usageClass ?? undefined, keyId ?? undefined],
  ...[reference, note].map((text) => (text === null ? undefined : escapeFormula(text))),
];

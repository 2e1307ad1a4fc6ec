/** Every charge and credit of an account: newest first, in pages and as CSV. */
import type { JSX } from "preact";
import { dayOf } from "../../accounts/clock.ts";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import { type LedgerEntry, listEntryPage } from "../../accounts/ledger/entry-pages.ts";
import { listEntries } from "../../accounts/ledger/ledger.ts";
import { formatUsd } from "../../accounts/money.ts";
import { exportUnitRows, type UsageClass } from "../../accounts/policy/prices.ts";
import { integerIn } from "../../base/json.ts";
import { escapeFormula } from "../../formats/table-formats.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { SheetProps } from "../components/sheet.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { csvOfChunks } from "../shell/file-download.ts";
import { chargeText, count, plainWords, shortTime, signedAmount } from "../shell/format.ts";
import type { PageVisit } from "../shell/pages.tsx";
import { cursorPage } from "./cursor-pages.tsx";

const pageEntries = 12;

/** What the requests of each usage class do. */
const purposes: Readonly<Record<UsageClass, string>> = {
  listing_search: "Listing search",
  listing_search_historical: "Search of sold or past listings",
  listing_search_dealer_filtered: "Search of chosen dealers",
  listing_search_dealer_filtered_historical: "Search of chosen dealers, sold or past listings",
  dealer_inventory_search: "Search of a dealer's inventory",
  dealer_inventory_search_historical: "Search of a dealer's inventory, sold or past listings",
  listing_search_enriched: "Listing search with price history or options",
  facet_counts: "Counts by attribute",
  facet_counts_historical: "Counts by attribute, sold or past listings",
  trend_series: "Trends over time",
  vehicle_detail: "Look-up of a listing or VIN",
  vehicle_detail_enriched: "Look-up with price history or options",
  dealer_lookup: "Look-up of dealers",
  suggestion: "Suggestions for a text",
  comparables: "Value and comparables of a vehicle",
  valuations: "Values of a list of vehicles",
  depreciation: "Depreciation of a model",
  listing_changes: "Changes since a version",
  evidence: "Evidence of a VIN's history",
  dealer_fit: "Fastest dealers or models",
  listing_export: "Export of listings",
  listing_export_historical: "Export of sold or past listings",
  listing_export_enriched: "Export with price history or options",
  sql_statement: "SQL",
};

/** Returns what entries of a usage class, or of another kind, are for: `Listing search`, `Paid`. */
export const purposeOf = (kind: string): string =>
  new Map(Object.entries(purposes)).get(kind) ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll("_", " ")}`;

/** Describes how much a charge of several units is for. */
const extentOf = ({ usageClass, units }: LedgerEntry): string | null => {
  if (units === null || usageClass === null) return null;
  if (usageClass === "sql_statement") return `${count(units)} s`;
  return usageClass.startsWith("listing_export") ? `up to ${count(units * exportUnitRows)} rows` : null;
};

interface EntrySheetProps extends SheetProps {
  readonly entries: readonly LedgerEntry[];
  readonly keys: readonly UsedKey[];
  /** Times of another year have their year. */
  readonly today: string;
}

const nameOf = (key: UsedKey): string => (key.isWeb ? "these pages" : key.name || key.keyId);

export const EntrySheet = ({ entries, keys, today, ...sheet }: EntrySheetProps): JSX.Element => {
  const names = new Map(keys.map((key) => [key.keyId, nameOf(key)]));
  return (
    <TableSheet
      {...sheet}
      label="Charges"
      columns={[
        { title: "When, UTC", cell: ({ atMs }) => shortTime(atMs, today) },
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
  const page = {
    path: "/account",
    id: "charges",
    query,
    rowsMax: pageEntries,
    numberOf: ({ entry }: LedgerEntry) => entry,
  };
  const { rows, links } = await cursorPage(page, (part) => administration.call(listEntryPage, { accountId, ...part }));
  return (
    <EntrySheet
      id="charges"
      title="Every charge"
      end={<a href="/account/charges.csv">CSV</a>}
      tools={links}
      entries={rows}
      keys={keys}
      today={dayOf(administration.nowMs)}
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

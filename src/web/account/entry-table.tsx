/** Entries of the ledger as a table: when, what for, by which key and request, and how much. */
import type { JSX } from "preact";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import type { LedgerEntry } from "../../accounts/ledger/entry-pages.ts";
import { exportUnitRows, type UsageClass } from "../../accounts/policy/prices.ts";
import { DataTable } from "../shell/blocks.tsx";
import { count, signedAmount, time } from "../shell/format.ts";

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

export const kindsOfEntries: readonly string[] = ["credits", ...Object.keys(purposes)];

/** Returns what entries of a usage class, or of another kind, are for: `Listing search`, `Paid`. */
export const purposeOf = (kind: string): string =>
  new Map(Object.entries(purposes)).get(kind) ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll("_", " ")}`;

/** Describes how much a charge of several units is for. */
const extentOf = ({ usageClass, units }: LedgerEntry): string | null => {
  if (units === null || usageClass === null) return null;
  if (usageClass === "sql_statement") return `${count(units)} s`;
  return usageClass.startsWith("listing_export") ? `up to ${count(units * exportUnitRows)} rows` : null;
};

interface EntryTableProps {
  readonly entries: readonly LedgerEntry[];
  readonly keys: readonly UsedKey[];
}

export const EntryTable = ({ entries, keys }: EntryTableProps): JSX.Element => (
  <DataTable
    label="Entries"
    columns={["@UTC", "What", "~Key", "~Request", "#Amount"]}
    rows={entries.map((entry) => [
      time(entry.atMs),
      [purposeOf(entry.usageClass ?? entry.kind), extentOf(entry), entry.reference, entry.note]
        .filter((part) => part !== null)
        .join(", "),
      keys.find(({ keyId }) => keyId === entry.keyId)?.name || entry.keyId,
      entry.kind === "charge" ? <code>{entry.entryId}</code> : null,
      signedAmount(entry.micros),
    ])}
  />
);

/** Every charge and credit of an account: newest first, by key, kind and days, in pages and as CSV. */
import type { JSX } from "preact";
import { dayOf } from "../../accounts/clock.ts";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import type { EntryFilter, LedgerEntry } from "../../accounts/ledger/entry-pages.ts";
import { formatUsd } from "../../accounts/money.ts";
import { exportUnitRows, type UsageClass } from "../../accounts/policy/prices.ts";
import { isDay } from "../../base/day.ts";
import { refuse } from "../../contract/errors.ts";
import { escapeFormula } from "../../formats/table-formats.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { csvOfChunks, type Download } from "../shell/csv-download.ts";
import { chargeText, count, plainWords, shortTime, signedAmount } from "../shell/format.ts";
import { beforeIn, CursorPages } from "./cursor-pages.tsx";

const pageEntries = 12;
/** Credits that are summed; older ones are left out. */
const creditsMax = 1_000;

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

const kindsOfEntries: readonly string[] = ["credits", ...Object.keys(purposes)];

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
  /** Times of another year have their year. */
  readonly today: string;
}

const nameOf = (key: UsedKey): string => (key.isWeb ? "these pages" : key.name || key.keyId);

export const EntryTable = ({ entries, keys, today }: EntryTableProps): JSX.Element => {
  const names = new Map(keys.map((key) => [key.keyId, nameOf(key)]));
  return (
    <DataTable
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
  const page = { accountId, before: null, limit: creditsMax, what: "credits" };
  const credits = await administration.call("listEntryPage", page);
  return credits.reduce((sum, { micros }) => sum + micros, 0);
}

const filterFields = ["what", "key", "from", "to"] as const;

/** Parses the filter of an address. Refuses an unknown kind and an invalid day with `invalid_parameter_value`. */
function filterOf(query: URLSearchParams): EntryFilter {
  const [what, keyId, from, to] = filterFields.map((name) => query.get(name)?.trim() || undefined);
  const isKind = (text: string): boolean => kindsOfEntries.includes(text);
  const day = [isDay, "a day such as 2026-11-19"] as const;
  for (const [parameter, value, [isValid, allowed]] of [
    ["what", what, [isKind, kindsOfEntries.join(", ")]],
    ["from", from, day],
    ["to", to, day],
  ] as const)
    if (value !== undefined && !isValid(value))
      throw refuse("invalid_parameter_value", { parameter, value: JSON.stringify(value), allowed, hint: "" });
  return { what, keyId, from, to };
}

/** Returns the sheet of a page of charges and credits, which the address of the account's page filters. */
export async function chargesSheet(
  { accounts: { administration } }: SiteServices,
  accountId: string,
  keys: readonly UsedKey[],
  query: URLSearchParams,
): Promise<JSX.Element> {
  const before = beforeIn(query);
  const filter = filterOf(query);
  const found = await administration.call("listEntryPage", { accountId, before, limit: pageEntries + 1, ...filter });
  const entries = found.slice(0, pageEntries);
  const last = found.length > pageEntries ? entries.at(-1)?.entry : undefined;
  const chosen = new URLSearchParams(
    filterFields.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])),
  );
  return (
    <Sheet
      id="charges"
      title={chosen.size === 0 ? "Every charge" : "Some charges"}
      end={<a href={`/account/charges.csv${chosen.size === 0 ? "" : `?${chosen}`}`}>CSV</a>}
    >
      <EntryTable entries={entries} keys={keys} today={dayOf(administration.nowMs)} />
      <div class="tools">
        <CursorPages path="/account" query={chosen} id="charges" before={before} last={last} />
        <details open={chosen.size > 0}>
          <summary>Filter</summary>
          <Filters keys={keys} filter={filter} />
        </details>
      </div>
    </Sheet>
  );
}

const all = ["", "All"] as const;

const Filters = ({ keys, filter }: { readonly keys: readonly UsedKey[]; readonly filter: EntryFilter }) => (
  <form class="line" action="/account#charges" method="get">
    <Select
      label="What"
      name="what"
      value={filter.what}
      options={[all, ...kindsOfEntries.map((kind) => [kind, purposeOf(kind)] as const)]}
    />
    <Select
      label="Key"
      name="key"
      value={filter.keyId}
      options={[all, ...keys.map((key) => [key.keyId, nameOf(key)] as const)]}
    />
    <Field label="From day, UTC" type="date" name="from" value={filter.from} />
    <Field label="To day" type="date" name="to" value={filter.to} />
    <Button>Filter</Button>
    <Button href="/account#charges" look="quiet">
      All charges
    </Button>
  </form>
);

/** Returns the entries of the visitor's account that the page with the same query has, as CSV. */
export const chargesCsv =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, query }: Download) => {
    const list = { accountId: visitor.identity.key.accountId, ...filterOf(query) };
    const read = (after: LedgerEntry | null, limit: number): Promise<readonly LedgerEntry[]> =>
      administration.call("listEntryPage", { ...list, before: after?.entry ?? null, limit });
    return { name: "charges.csv", lines: csvOfChunks(columns, read, csvRow) };
  };

const columns = ["time", "entry_id", "kind", "usd", "usage_class", "key_id", "reference", "note"] as const;

const csvRow = ({ atMs, entryId, kind, micros, usageClass, keyId, reference, note }: LedgerEntry) => [
  ...[new Date(atMs).toISOString(), entryId, kind, formatUsd(micros), usageClass ?? undefined, keyId ?? undefined],
  ...[reference, note].map((text) => (text === null ? undefined : escapeFormula(text))),
];

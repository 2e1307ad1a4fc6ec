/** Values the market of a version that is about to be published: writes tables `valuations` and `price_effects`. */
import { ident, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import type { Manifest } from "../lake/manifest.ts";
import { activeOn, unorderedListings } from "../lake/market.ts";
import { writeSplit } from "../lake/writer/table-files.ts";
import type { Writer } from "../lake/writer/writer.ts";
import { withFit } from "./fit.ts";
import { pricedListings } from "./priced-listings.ts";
import { rules } from "./rules.ts";

/** Returns the manifest of a version without the valuations of the one before it. */
export const withoutValuations = (manifest: Manifest): Manifest => ({
  ...manifest,
  tables: { ...manifest.tables, valuations: [], price_effects: [] },
});

/** Returns the manifest with the valuations of its published day; with none if the market is too small. */
export async function withValuations(writer: Writer, manifest: Manifest): Promise<Manifest> {
  const { lake, session } = writer;
  const { tables, as_of, version } = manifest;
  const bare = withoutValuations(manifest);
  if ((manifest.days[as_of] ?? 0) < rules.marketMin) return bare;
  const rows = (table: "sold" | "builds" | "dealers" | "tokens" | "options") => rowsOfFiles(table, tables[table], lake);
  const priced = pricedListings(
    {
      active: unorderedListings(activeOn(bare, as_of), { folder: lake, hasDeliveries: false }),
      sold: rows("sold"),
      builds: rows("builds"),
      dealers: rows("dealers"),
      tokens: rows("tokens"),
      options: rows("options"),
    },
    as_of,
  );
  return withFit(session, priced, async () => {
    const write = (table: "valuations" | "price_effects") =>
      writeSplit(writer, version, { table, partition: null, rows: sql`FROM ${ident(table)}` });
    return {
      ...bare,
      tables: { ...tables, valuations: await write("valuations"), price_effects: await write("price_effects") },
    };
  });
}

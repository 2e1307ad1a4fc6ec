/** Reads foreign files by a mapping, as ingest does before it parses their values. */
import { isObject, type Row } from "../../../src/base/json.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { sql } from "../../../src/db/sql.ts";
import { deliveriesAt } from "../../../src/ingest/feed/delivery.ts";
import { defaultFeedLimits, type FeedLimits } from "../../../src/ingest/feed/feed-file.ts";
import { readDelivery } from "../../../src/ingest/feed/read-files.ts";
import { mappingOf } from "../../../src/ingest/mapping/mapping.ts";
import type { Mapping } from "../../../src/ingest/mapping/rules.ts";
import { onScopeEnd, type Scope } from "../scope.ts";
import { writeFeedFiles } from "./feeds.ts";
import { temporaryFolder } from "./lakes.ts";

export interface ReadForeign {
  readonly inventory: readonly Row[];
  readonly dealers: readonly Row[];
  readonly remarks: readonly string[];
}

type Read = (
  files: Readonly<Record<string, string | Uint8Array>>,
  mapping?: object,
  limits?: Partial<FeedLimits>,
) => Promise<ReadForeign>;

const isMapping = (mapping: object): mapping is Mapping => "name" in mapping;

/** Returns a function that writes the files of a day and reads them, with one database until the scope ends. */
export async function foreignReader(scope: Scope): Promise<Read> {
  const folder = await temporaryFolder(scope);
  const database = await DuckDatabase.open({ threads: 1 });
  onScopeEnd(scope, async () => database.close());
  let days = 0;
  return async (files, content, limits = {}) => {
    days += 1;
    const path = await writeFeedFiles(folder, `day ${days}`, files);
    const [delivery] = await deliveriesAt(path, "2026-03-01");
    if (delivery === undefined) throw new Error("no delivery");
    const mapping = content === undefined || isMapping(content) ? content : mappingOf(content, "mapping.json");
    const settings = { limits: { ...defaultFeedLimits, ...limits }, ...(mapping === undefined ? {} : { mapping }) };
    return database.using(async (session) => {
      const rows: Record<string, Row[]> = { inventory: [], dealers: [] };
      const remarks = await readDelivery(
        session,
        delivery,
        settings,
        async (table, read) => {
          const found = await session.rows(
            sql`SELECT * REPLACE ("row"::INTEGER AS "row") FROM (${read}) ORDER BY file, "row"`,
          );
          rows[table]?.push(...found.filter(isObject));
        },
        {
          async onRefused(refused) {
            for (const table of Object.keys(rows))
              rows[table] = (rows[table] ?? []).filter(({ file }) => file !== refused);
          },
        },
      );
      return { inventory: rows.inventory ?? [], dealers: rows.dealers ?? [], remarks };
    });
  };
}

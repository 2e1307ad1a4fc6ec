/** Fills Solr's cores from the flat rows: batches of JSON, a commit, and a merge to one segment. */
import { join } from "node:path";
import type { Json, Row } from "../../../src/base/json.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { Sql } from "../../../src/db/sql.ts";
import { type ColumnName, columnNames, kindOf } from "../../dataset/columns.ts";
import { type Relation, relations } from "../../dataset/flat-rows.ts";
import { type HttpClient, httpClient } from "../../servers/http.ts";
import { text } from "../peer.ts";
import type { Installation } from "./install.ts";
import { heapMibFor, startSolr, writeHome } from "./process.ts";
import { countedAsWords } from "./requests.ts";

/** Makes a home and fills it; Solr does not run any more when it resolves. */
export async function fillSolr(home: string, flat: string, installation: Installation): Promise<void> {
  await writeHome(home);
  const server = await startSolr(home, installation, { heapMib: heapMibFor(1_000_000), isCached: false });
  const client = httpClient(server.url);
  const database = await DuckDatabase.open();
  try {
    for (const relation of relations) await fillCore(relation, join(flat, `${relation}.parquet`), client, database);
  } finally {
    database.close();
    client.close();
    await server.stop();
  }
}

/** Rows are read by so many, because a reading decodes all of a row group, and posted by fewer. */
const [readAtOnce, postedAtOnce] = [50_000, 5000];

/** Two batches are under way at a time, because Solr indexes on a thread for each request. */
async function fillCore(relation: Relation, file: string, client: HttpClient, database: DuckDatabase): Promise<void> {
  await database.using(async (session) => {
    const ask = (statement: string): Promise<readonly Row[]> => session.rows(new Sql([statement], []));
    const source = `read_parquet(${text(file)})`;
    const list = columnNames.map((column) => `${readAs(column)} AS "${column}"`).join(", ");
    const [counted] = await ask(`SELECT count(*)::INTEGER AS listings FROM ${source}`);
    let posted: Promise<unknown> = Promise.resolve();
    for (let from = 0; from < Number(counted?.listings); from += readAtOnce) {
      const between = `position BETWEEN ${from} AND ${from + readAtOnce - 1}`;
      const rows = await ask(`SELECT ${list} FROM ${source} WHERE ${between} ORDER BY position`);
      for (let first = 0; first < rows.length; first += postedAtOnce) {
        const documents = rows.slice(first, first + postedAtOnce).map(documentOf);
        const posting = client.send(`/${relation}/update`, { json: JSON.stringify(documents) });
        // Awaited below, after another batch; a failure until then is no unhandled one.
        posting.catch(() => {});
        await posted;
        posted = posting;
      }
    }
    await posted;
  });
  await client.send(`/${relation}/update?commit=true&optimize=true&maxSegments=1&waitSearcher=true`, { json: "{}" });
}

/** A column as Solr takes it: times in ISO 8601, lists and numbers as they are. */
function readAs(column: ColumnName): string {
  const kind = kindOf(column);
  return kind === "time" || kind === "day" ? `strftime("${column}", '%Y-%m-%dT%H:%M:%SZ')` : `"${column}"`;
}

/** A listing as a document: without nulls, with the fields that filters and facets need besides. */
function documentOf(row: Row): Row {
  const { make, model, latitude, longitude } = row;
  const words = countedAsWords.map((column): [string, Json] => [`${column}_word`, row[column] ?? null]);
  const place = typeof latitude === "number" && typeof longitude === "number" ? `${latitude},${longitude}` : null;
  const fields: Row = {
    ...{ ...row, position: Number(row.position), place },
    ...{ make_key: lowerCased(make), model_key: lowerCased(model), ...Object.fromEntries(words) },
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );
}

const lowerCased = (value: unknown): string | null => (typeof value === "string" ? value.toLowerCase() : null);

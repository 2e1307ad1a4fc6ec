/** Fills Solr's cores from the flat rows: posts JSON batches, commits, and merges each core to one segment. */
import { join } from "node:path";
import type { Json, Row } from "../../../src/base/json.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { Sql } from "../../../src/db/sql.ts";
import { type ColumnName, columnNames, peerColumns } from "../../dataset/columns.ts";
import { type Relation, relations } from "../../dataset/flat-rows.ts";
import { type HttpClient, httpClient } from "../../servers/http.ts";
import { quoteString } from "../peer.ts";
import type { SolrInstallation } from "./install.ts";
import { defaultHeapMib, startSolr, writeSolrHome } from "./process.ts";
import { integersWithStringField } from "./requests.ts";

/** Writes a Solr home and fills it. Solr has stopped when the promise resolves. */
export async function fillSolr(home: string, flat: string, installation: SolrInstallation): Promise<void> {
  await writeSolrHome(home);
  const server = await startSolr(home, installation, { heapMib: defaultHeapMib(1_000_000), isCached: false });
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

/** Rows per read are many, because a read decodes whole row groups; rows per POST are fewer. */
const readRows = 50_000;
const postRows = 5000;

/** Keeps two POSTs in flight, because Solr indexes each request on its own thread. */
async function fillCore(relation: Relation, file: string, client: HttpClient, database: DuckDatabase): Promise<void> {
  await database.using(async (session) => {
    const query = (statement: string): Promise<readonly Row[]> => session.rows(new Sql([statement], []));
    const source = `read_parquet(${quoteString(file)})`;
    const selectList = columnNames.map((column) => `${readExpression(column)} AS "${column}"`).join(", ");
    const [countRow] = await query(`SELECT count(*)::INTEGER AS listings FROM ${source}`);
    let previousPost: Promise<unknown> = Promise.resolve();
    for (let from = 0; from < Number(countRow?.listings); from += readRows) {
      const inBatch = `position BETWEEN ${from} AND ${from + readRows - 1}`;
      const rows = await query(`SELECT ${selectList} FROM ${source} WHERE ${inBatch} ORDER BY position`);
      for (let first = 0; first < rows.length; first += postRows) {
        const documents = rows.slice(first, first + postRows).map(toDocument);
        const post = client.send(`/${relation}/update`, { json: JSON.stringify(documents) });
        // Awaited in the next iteration. Without a handler, an earlier failure would be an unhandled rejection.
        post.catch(() => {});
        await previousPost;
        previousPost = post;
      }
    }
    await previousPost;
  });
  await client.send(`/${relation}/update?commit=true&optimize=true&maxSegments=1&waitSearcher=true`, { json: "{}" });
}

/** Returns the DuckDB expression that reads a column: dates and timestamps in ISO 8601, other kinds unchanged. */
function readExpression(column: ColumnName): string {
  const kind = peerColumns[column];
  return kind === "timestamp" || kind === "date" ? `strftime("${column}", '%Y-%m-%dT%H:%M:%SZ')` : `"${column}"`;
}

/** Converts a listing to a Solr document: omits nulls and empty lists, adds the fields that filters and facets need. */
function toDocument(row: Row): Row {
  const { make, model, latitude, longitude } = row;
  const stringFields = integersWithStringField.map((column): [string, Json] => [`${column}_word`, row[column] ?? null]);
  const place = typeof latitude === "number" && typeof longitude === "number" ? `${latitude},${longitude}` : null;
  const fields: Row = {
    ...row,
    position: Number(row.position),
    place,
    make_key: lowerCase(make),
    model_key: lowerCase(model),
    ...Object.fromEntries(stringFields),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );
}

const lowerCase = (value: unknown): string | null => (typeof value === "string" ? value.toLowerCase() : null);

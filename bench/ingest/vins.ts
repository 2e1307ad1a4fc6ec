/**
 * Compares what VINs of a CSV file say with what its rows state, and with what vPIC says, attribute by attribute:
 * `node --import tsx/esm bench/ingest/vins.ts FILE.csv [VPIC.csv]`. The columns are named like fields of the feed; `brand` is read as `make`. The
 * second file is printed by `data/reference/build/vins.py`. Prints the shares in percent.
 */
import { existsSync } from "node:fs";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { ident, join, pathLiteral, type Sql, sql } from "../../src/db/sql.ts";
import { matchKey } from "../../src/db/text-matching.ts";
import { buildsOf, candidatesOf, decodedNames, descriptorOf, newestYearOn } from "../../src/listing/vins.ts";

const [file, vpicFile] = process.argv.slice(2);
if (file === undefined || !existsSync(file)) {
  console.log(`${file ?? "no file"}: not found: expected the path of a CSV file with a column vin`);
  process.exit();
}

const database = await DuckDatabase.open();
await database.using(async (session) => {
  await readRows(session, "stated", file);
  await session.createTempTable("descriptors", sql`SELECT DISTINCT descriptor FROM stated`);
  const newestYear = newestYearOn(new Date().toISOString());
  const builds = buildsOf(sql`(${candidatesOf(sql`FROM descriptors`, newestYear)})`);
  await session.createTempTable(
    "decoded",
    sql`FROM (${builds}) JOIN (SELECT vin, descriptor FROM stated) USING (descriptor)`,
  );
  const [counts] = await session.rows(
    sql`SELECT (SELECT count(*)::INTEGER FROM stated) AS vins, (SELECT count(*)::INTEGER FROM decoded) AS decoded`,
  );
  console.log(`${counts?.decoded} of ${counts?.vins} VINs decode`);
  console.table(await compare(session, "stated"));
  if (vpicFile === undefined) return;
  await readRows(session, "vpic", vpicFile);
  console.table(await compare(session, "vpic"));
});
database.close();

/** Creates a table of the distinct well-formed VINs of a file, with the texts of the attributes that it has. */
async function readRows(session: Session, table: string, path: string): Promise<void> {
  const rows = sql`read_csv(${pathLiteral(path)}, header = true, all_varchar = true)`;
  const { columns } = await session.table(sql`FROM ${rows} LIMIT 0`);
  const texts = decodedNames.map((name) => {
    const column = name === "make" && columns.includes("brand") ? "brand" : name;
    return sql`${columns.includes(column) ? ident(column) : sql`NULL::VARCHAR`} AS ${ident(name)}`;
  });
  await session.createTempTable(
    table,
    sql`SELECT DISTINCT ON (vin) * REPLACE (upper(trim(vin)) AS vin), ${descriptorOf(sql`upper(trim(vin))`)} AS descriptor
        FROM (SELECT vin, ${join(texts)} FROM ${rows}) WHERE length(trim(vin)) = 17`,
  );
}

/** Returns for each attribute in how many of the decoded VINs the table and the other source have it, and agree where both have. */
async function compare(session: Session, other: string): Promise<Readonly<Record<string, object>>> {
  const share = (part: Sql, whole: Sql): Sql =>
    sql`round(100 * count(*) FILTER (${part}) / nullif(count(*) FILTER (${whole}), 0), 1)::DOUBLE`;
  const results: Record<string, object> = {};
  for (const name of decodedNames) {
    const ours = sql`${ident("decoded", name)}::VARCHAR`;
    const theirs = sql`nullif(${ident("other", name)}, '')`;
    const have = sql`${ours} IS NOT NULL AND ${theirs} IS NOT NULL`;
    const [row] = await session.rows(sql`
      SELECT ${share(sql`${ours} IS NOT NULL`, sql`true`)} AS decoded, ${share(sql`${theirs} IS NOT NULL`, sql`true`)} AS ${ident(other)},
             ${share(sql`${have} AND ${matchKey(ours)} = ${matchKey(theirs)}`, have)} AS equal
      FROM decoded JOIN ${ident(other)} AS other USING (vin)`);
    results[name] = row ?? {};
  }
  return results;
}

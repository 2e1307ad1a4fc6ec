/** Deliveries of many small files, which are read together: as if each was read alone, also if some are damaged. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Row } from "../../src/base/json.ts";
import { messageOf } from "../../src/base/user-error.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { pathLiteral, sql } from "../../src/db/sql.ts";
import { type Delivery, deliveriesAt } from "../../src/ingest/feed/delivery.ts";
import { defaultFeedLimits } from "../../src/ingest/feed/feed-file.ts";
import type { ReadSettings } from "../../src/ingest/feed/file-formats.ts";
import { readDelivery } from "../../src/ingest/feed/read-files.ts";
import { mappingOf } from "../../src/ingest/mapping/mapping.ts";
import { mutateFeed } from "../support/campaigns/feed-mutations.ts";
import { Chance } from "../support/chance.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { dealerIdOf, vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

const day = "2026-11-18";
const formats = ["csv", "csv", "csv.gz", "ndjson", "ndjson.gz", "parquet"] as const;
const headers = [
  ["vin", "dealer_id", "price"],
  ["vin", "dealer_id", "features", "file"],
  ["dealer_id", "vin", "note", "_____________"],
];
const lineEnds = ["\n", "\n", "\r\n", "\r"];
const suffixes = ["", "", "[1]", "*", " 'x\"", "%20", "—", "{a,b}"];
const texts = ["1", "", "a,b", 'q"q', "x\ny", "a;b", "é", "20000"];

/** Reads a delivery, each file alone or small ones together. Returns the rows of each table in order, or the error. */
async function outcomeOf(session: Session, delivery: Delivery, settings: ReadSettings) {
  const rows: Record<string, Row[]> = {};
  let statements = 0;
  try {
    const remarks = await readDelivery(session, delivery, settings, async (table, read) => {
      const found = await session.rows(sql`SELECT * REPLACE ("row"::INTEGER AS "row") FROM (${read})`);
      statements += 1;
      rows[table] = [...(rows[table] ?? []), ...found];
    });
    for (const found of Object.values(rows)) found.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    return { statements, result: { rows, remarks } };
  } catch (thrown) {
    return { statements, result: messageOf(thrown) };
  }
}

const keyOf = ({ file, row, dealer_id }: Row): string =>
  JSON.stringify([file, String(row).padStart(9, "0"), dealer_id]);

const cellOf = (column: string, chance: Chance): string => {
  if (column === "vin") return vinOf(chance.integer(1, 99));
  return column === "dealer_id" ? dealerIdOf(chance.integer(1, 3)) : chance.pick(texts);
};

function csvContent(chance: Chance): Buffer {
  const columns = chance.pick(headers);
  const lines = Array.from({ length: chance.integer(0, 4) }, () =>
    columns.map((column) => `"${cellOf(column, chance).replaceAll('"', '""')}"`).join(","),
  );
  const end = chance.pick(lineEnds);
  const blank = chance.happens(0.1) ? [""] : [];
  const text = [columns.join(","), ...blank, ...lines].join(end) + (chance.happens(0.8) ? end : "");
  return Buffer.from(chance.happens(0.1) ? `\ufeff${text}` : text);
}

function jsonContent(chance: Chance): Buffer {
  const columns = chance.pick(headers);
  const rowOf = () => Object.fromEntries(columns.map((column) => [column, cellOf(column, chance)] as const));
  return Buffer.from(Array.from({ length: chance.integer(1, 4) }, () => `${JSON.stringify(rowOf())}\n`).join(""));
}

async function writeParquet(session: Session, path: string, chance: Chance): Promise<void> {
  const type = chance.pick([sql`BIGINT`, sql`VARCHAR`]);
  await session.run(sql`COPY (SELECT ${vinOf(chance.integer(1, 99))} AS vin, ${dealerIdOf(1)} AS dealer_id, i::${type} AS price
    FROM range(${chance.integer(1, 4)}) AS r(i)) TO ${pathLiteral(path)} (FORMAT parquet)`);
}

/** Writes a delivery of small files, a few of them damaged. */
async function writeDraw(session: Session, folder: string, chance: Chance): Promise<void> {
  const path = await writeFeedFiles(folder, day, {});
  const damaged = chance.happens(0.4) ? 0.15 : 0;
  for (let n = chance.integer(2, 14); n > 0; n -= 1) {
    const format = chance.pick(formats);
    const file = join(path, `inventory-${n}${chance.pick(suffixes)}.${format}`);
    if (format === "parquet") {
      await writeParquet(session, file, chance);
      continue;
    }
    const content = format.startsWith("csv") ? csvContent(chance) : jsonContent(chance);
    const whole = format.endsWith(".gz") ? gzipSync(content) : content;
    const isDamaged = chance.happens(damaged);
    await writeFile(file, isDamaged ? mutateFeed(content, format.endsWith(".gz"), chance).bytes : whole);
  }
}

async function openSession(scope: Scope): Promise<Session> {
  const database = await DuckDatabase.open({ threads: 2 });
  onScopeEnd(scope, async () => database.close());
  return database.connect();
}

test("files that are read together have the rows, remarks and errors as if each was read alone", {
  skip: skipInShortRun,
}, async (t) => {
  const session = await openSession(t);
  const chance = new Chance(11);
  const counts = { read: 0, refused: 0, alone: 0, together: 0 };
  for (let draw = 0; draw < extentOf(16, 300); draw += 1) {
    const folder = join(await temporaryFolder(t), String(draw));
    await writeDraw(session, folder, chance);
    const [delivery] = await deliveriesAt(folder, day);
    assert.ok(delivery !== undefined);
    const limits = { ...defaultFeedLimits, ...(chance.happens(0.1) ? { rows: 3 } : {}) };
    const alone = await outcomeOf(session, delivery, { limits, batchFilesMax: 1 });
    for (const batchFilesMax of [2, 500]) {
      const together = await outcomeOf(session, delivery, { limits, batchFilesMax });
      assert.deepEqual(together.result, alone.result, `draw ${draw}, batches of ${batchFilesMax}`);
      counts.together += together.statements;
    }
    counts.alone += 2 * alone.statements;
    counts[typeof alone.result === "string" ? "refused" : "read"] += 1;
  }
  assert.ok(counts.read > 3 && counts.refused > 3 && counts.together < counts.alone, JSON.stringify(counts));
});

for (const [encoding, nodeEncoding] of [
  ["utf-8", "utf8"],
  ["latin-1", "latin1"],
  ["utf-16", "utf16le"],
] as const)
  test(`mapped files in ${encoding} have one dealer row per dealer of each file, also if they are read together`, async (t) => {
    const session = await openSession(t);
    const folder = await temporaryFolder(t);
    const files = Array.from({ length: 6 }, (_, n) => {
      const lines = [1, 2, 3].map((car) => `${vinOf(10 * n + car)},Café ${car % 2},${20_000 + n}`);
      const content = Buffer.from(`VIN,Seller,Ask\n${lines.join("\n")}\n`, nodeEncoding);
      return [`inventory-${n}.csv`, content] as const;
    });
    await writeFeedFiles(folder, day, Object.fromEntries(files));
    const [delivery = assert.fail("no delivery")] = await deliveriesAt(folder, day);
    const content = {
      version: 1,
      file: { encoding },
      fields: { vin: "VIN", price: "Ask" },
      dealer: { key: ["Seller"], fields: { name: "Seller" } },
    };
    const mapping = mappingOf(content, "cars.json");
    const limits = defaultFeedLimits;
    const alone = await outcomeOf(session, delivery, { limits, mapping, batchFilesMax: 1 });
    const together = await outcomeOf(session, delivery, { limits, mapping });
    assert.deepEqual(together.result, alone.result);
    assert.deepEqual([alone.statements, together.statements], [12, 2]);
    assert.equal(typeof alone.result === "string" ? alone.result : alone.result.rows.dealers?.length, 12);
  });

test("rejects of many small files name their file and row", async (t) => {
  const folder = await temporaryFolder(t);
  const rowsOf = (n: number) =>
    `${vinOf(n)},${dealerIdOf(1)}\n${n % 10 === 0 ? "short" : vinOf(1000 + n)},${dealerIdOf(1)}\n`;
  const files = Array.from({ length: 40 }, (_, n) => [`inventory-${n}.csv`, `vin,dealer_id\n${rowsOf(n)}`] as const);
  await writeFeedFiles(folder, day, Object.fromEntries(files));
  const lake = join(await temporaryFolder(t), "lake");
  await ingestPath(lake, folder, { day, hasServingFiles: false });
  const rejects = await queryLake(
    lake,
    `SELECT file, "row"::INTEGER AS "row" FROM rejects WHERE outcome = 'rejected' AND field = 'vin' ORDER BY file`,
  );
  assert.deepEqual(
    rejects,
    [0, 10, 20, 30].map((n) => ({ file: `inventory-${n}.csv`, row: 2 })),
  );
});

/** Reads values of a foreign file as ingest does, with the issues that it records. */
import { type Row, textIn } from "../../../src/base/json.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { ident, sql } from "../../../src/db/sql.ts";
import { deliveriesAt } from "../../../src/ingest/feed/delivery.ts";
import { defaultFeedLimits } from "../../../src/ingest/feed/feed-file.ts";
import { readDelivery } from "../../../src/ingest/feed/read-files.ts";
import { mappingOf } from "../../../src/ingest/mapping/mapping.ts";
import { FeedParser } from "../../../src/ingest/normalize/parse.ts";
import { onScopeEnd, type Scope } from "../scope.ts";
import { vinOf, writeFeedFiles } from "./feeds.ts";
import { temporaryFolder } from "./lakes.ts";

/** What became of a text: its value, or why it has none; a note beside a value. */
export interface ReadValue {
  readonly value: unknown;
  readonly reason: string | null;
}

interface ValueOptions {
  /** The conversions of the mapping's rule. */
  readonly rule?: object;
  readonly currency?: string;
  readonly day?: string;
  /** Whether each text is in a file that has no other. */
  readonly isAlone?: boolean;
}

type ReadValues = (field: string, texts: readonly string[], options?: ValueOptions) => Promise<readonly ReadValue[]>;

const reasonOf = (issue: Row | undefined): string | null => (issue === undefined ? null : textIn(issue, "reason"));

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Returns a function that reads texts of one column, each in a row, with one database until the scope ends. */
export async function valuesReader(scope: Scope): Promise<ReadValues> {
  const folder = await temporaryFolder(scope);
  const database = await DuckDatabase.open({ threads: 1 });
  onScopeEnd(scope, async () => database.close());
  let files = 0;
  return async (field, texts, { rule = {}, currency = "USD", day = "2026-11-19", isAlone = false } = {}) => {
    files += 1;
    const isVin = field === "vin";
    const rows = texts.map((text, index) => (isVin ? [text, ""] : [vinOf(index), text]).map(quoted).join());
    const fileOf = (index: number): string => (isAlone ? `cars-${index}.csv` : "cars.csv");
    const csv = (lines: readonly string[]): string => `vin,text\n${lines.join("\n")}\n`;
    const contents = isAlone ? rows.map((row, index) => [fileOf(index), csv([row])]) : [[fileOf(0), csv(rows)]];
    const path = await writeFeedFiles(folder, `day ${files}`, Object.fromEntries(contents));
    const [delivery] = await deliveriesAt(path, day);
    if (delivery === undefined) throw new Error("no delivery");
    const fields = { vin: "vin", ...(isVin ? {} : { [field]: { from: "text", ...rule } }) };
    const north = { from: { constant: "North" } };
    const mapping = mappingOf(
      { version: 1, fields, dealer: { key: [north], fields: { name: north } } },
      "mapping.json",
    );
    return database.using(async (session) => {
      const parser = await FeedParser.begin(session, { day, currency, isFirst: true });
      await readDelivery(session, delivery, { limits: defaultFeedLimits, mapping }, (table, read) =>
        parser.parse(table, read),
      );
      await parser.finish();
      const location = sql`file || ' ' || "row" AS location`;
      const values = await session.rows(sql`SELECT ${location}, ${ident(field)} AS "value" FROM parsed_inventory`);
      const issues = await session.rows(
        sql`SELECT ${location}, reason FROM issues WHERE feed = 'inventory' AND field = ${field}`,
      );
      return texts.map((_, index) => {
        const isOfText = (row: Row): boolean => row.location === `${fileOf(index)} ${isAlone ? 1 : index + 1}`;
        return { value: values.find(isOfText)?.value ?? null, reason: reasonOf(issues.find(isOfText)) };
      });
    });
  };
}

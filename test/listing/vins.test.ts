/** VINs, decoded by the project's table and by another decoder of vPIC, whose answers are in `test/fixtures/vins.csv`. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { ident, join, sql } from "../../src/db/sql.ts";
import { buildsOf, candidatesOf, decodedNames, descriptorOf } from "../../src/listing/vins.ts";
import { readCsv } from "../support/lakes/generated.ts";

const database = await DuckDatabase.open({ threads: 1 });
after(() => database.close());

/** Returns the decoded attributes of VINs as texts, by VIN; none of a VIN that is not decoded. */
async function decode(vins: readonly string[], newestYear = 2028): Promise<ReadonlyMap<string, Row>> {
  const texts = decodedNames.map((name) => sql`coalesce(${ident(name)}::VARCHAR, '') AS ${ident(name)}`);
  const asked = sql`(SELECT vin, ${descriptorOf(sql`vin`)} AS descriptor FROM (SELECT unnest(${vins}) AS vin))`;
  const rows = await database.using((session) =>
    session.rows(sql`SELECT vin, ${join(texts)} FROM ${asked} AS asked
      JOIN (${buildsOf(sql`(${candidatesOf(sql`SELECT DISTINCT descriptor FROM ${asked}`, newestYear)})`)}) USING (descriptor)`),
  );
  return new Map(rows.map(({ vin, ...build }) => [String(vin), build]));
}

const expected = (await readCsv(projectPath("test/fixtures/vins.csv"))).map((row) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? ""])),
);
const decoded = await decode(expected.map(({ vin }) => String(vin)));

const descriptorIn = (vin: string): string => vin.slice(0, 8) + vin.slice(9, 11);

test("VINs decode to what vPIC says of them, and to nothing where it finds a fault or no model", () => {
  const known = expected.filter(({ year }) => year !== "");
  for (const { vin, ...build } of expected) {
    const found = decoded.get(String(vin));
    // `2WD` is either FWD or RWD.
    const known = build.drivetrain === "2WD" ? { ...build, drivetrain: "" } : build;
    if (found !== undefined) assert.deepEqual(found, known, String(vin));
  }
  assert.ok(known.length > 100 && expected.length - known.length > 50, `${known.length} of ${expected.length} VINs`);
  // Makers of nothing but heavy trucks and buses are left out, and so are VINs that can be of two years.
  for (const { vin, body_type } of known)
    assert.ok(decoded.has(String(vin)) || ["", "Bus", "Chassis Cab"].includes(String(body_type)), String(vin));
});

test("a check digit, a serial number and the order of VINs do not change a build; a year after the newest on sale is 30 years earlier", async () => {
  const honda = "1HGCM82633A004352";
  const toyota = "5TDKDRBH0PS022138";
  const builds = await decode([toyota, honda, honda.replace("004352", "999999"), "1HGCM82673A004352"]);
  assert.deepEqual(new Set([...builds.values()].map(({ model }) => model)), new Set(["Highlander", "Accord"]));
  assert.equal(descriptorIn(honda), "1HGCM8263A");
  assert.equal((await decode([toyota], 2022)).get(toyota), undefined);
  assert.equal((await decode([toyota], 2023)).get(toyota)?.year, "2023");
});

/** Mappings that are proposed from the header and the values of a file: the fields of its columns, without a correction. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { DuckDatabase, type Session } from "../../../src/db/duckdb.ts";
import { pathLiteral, type Sql, sql } from "../../../src/db/sql.ts";
import { writeDialect } from "../../../src/demo/deliveries/dialect-files.ts";
import { dialectNames, dialects } from "../../../src/demo/deliveries/dialects.ts";
import { defaultFeedLimits } from "../../../src/ingest/feed/feed-file.ts";
import { loadReferenceTables } from "../../../src/ingest/normalize/vocabularies.ts";
import { mapFile } from "../../../src/ingest/proposal/map-file.ts";
import { fieldsByColumn } from "../../../src/ingest/proposal/match-columns.ts";
import { type Proposal, proposeMapping } from "../../../src/ingest/proposal/propose.ts";
import { fileAt, type Sample, sampleFile } from "../../../src/ingest/proposal/sample.ts";
import { extentOf } from "../../support/extent.ts";
import { vinOf } from "../../support/lakes/feeds.ts";
import { samplePath, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../../support/scope.ts";
import { columnsOfLayout, csvOfLayout, layouts } from "./layouts.ts";

const folder = await temporaryFolder(fileScope);
const settings = { limits: defaultFeedLimits, scratch: folder };
const day = "2026-11-18";
const database = await DuckDatabase.open({ threads: 1 });
onScopeEnd(fileScope, async () => database.close());

/** Writes a file; returns its path. */
async function written(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

type Proposed = Proposal & { readonly sample: Sample };

/** Proposes the mapping of a file as if there were no presets. */
const propose = (path: string): Promise<Proposed> =>
  database.using(async (session) => {
    await loadReferenceTables(session);
    const sample = await sampleFile(session, await fileAt(path), settings);
    const { preset: _, ...plain } = sample;
    return { ...(await proposeMapping(session, plain)), sample };
  });

const fieldsOf = ({ plans }: Proposal): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(plans.map(({ column, fields }) => [column, [...fields].sort()]));

/** The dialects of this run; the short one has those with the most columns. */
const tested = dialectNames.filter((name) => extentOf(Object.keys(dialects[name].columns).length >= 36, true));

/** Writes the sample delivery in these dialects; returns the path of a file of each, the largest if dealers have folders. */
async function writeDialects(session: Session): Promise<ReadonlyMap<string, string>> {
  const csv = (table: string): Sql =>
    sql`(SELECT * FROM read_csv(${pathLiteral(join(samplePath, day, `${table}.csv`))}, all_varchar = true))`;
  await session.createTempTable(
    "dealers",
    sql`SELECT row_number() OVER () AS dealer, * EXCLUDE (makes) FROM ${csv("dealers")}`,
  );
  await session.createTempTable(
    "day_rows",
    sql`SELECT dealer, cars.* FROM ${csv("inventory")} AS cars JOIN (SELECT dealer, dealer_id FROM dealers) USING (dealer_id)`,
  );
  const [largest] = await session.rows(
    sql`SELECT mode(dealer_id) AS id, mode(dealer)::INTEGER AS dealer FROM day_rows`,
  );
  // The generator numbers the lines of a market; here all are in the first file.
  const carsIn = (condition: Sql): Sql =>
    sql`SELECT * EXCLUDE (dealer, line) FROM (SELECT *, 0 AS line FROM day_rows) WHERE ${condition} LIMIT 40`;
  const paths = new Map<string, string>();
  for (const name of tested) {
    const into = join(folder, name);
    await mkdir(into);
    const { isPerDealer = false, file } = { isPerDealer: false, ...dialects[name] };
    await writeDialect(session, into, { dialect: dialects[name], rows: 100, carsIn });
    paths.set(name, join(into, isPerDealer ? String(largest?.id) : "", file));
  }
  return paths;
}

/** Columns of dialects that a preset uses otherwise, and why the proposal is right too, or wrong. */
const judged: Readonly<Record<string, readonly string[]>> = {
  // No body style of the generator contains the number of doors.
  vauto: ["Body"],
  "vauto-web": ["Body"],
  // Empty in all rows.
  "frazer-dealercarsearch": ["Location Code"],
  // The title has the year and the make too. Wrong: the address is not taken for that of the dealer, and an id without a name is not replaced by it.
  meta: ["title", "address", "dealer_name"],
};

describe("without presets, the columns of a dialect fill the fields that its preset fills", async () => {
  const paths = await database.using(writeDialects);
  for (const name of tested)
    test(name, async () => {
      const { sample, ...proposal } = await propose(paths.get(name) ?? "");
      assert.equal(sample.preset?.name, name);
      const expected = fieldsByColumn(sample.preset, sample.columns);
      const found = fieldsOf(proposal);
      const differing = sample.columns.filter(
        (column) => found[column]?.join() !== [...(expected.get(column) ?? [])].sort().join(),
      );
      assert.deepEqual(differing, judged[name] ?? []);
    });
});

/** Columns of layouts whose proposal differs from the reader's judgement. */
const corrections: Readonly<Record<string, readonly string[]>> = {
  "listings collected from a website": ["engine_displacement", "major_options"],
  "names that no table has": ["Sell $", "Odo"],
};

describe("the columns of a layout without a preset fill the fields that a reader expects", () => {
  for (const [name, layout] of Object.entries(layouts).slice(0, extentOf(8, 20)))
    test(name, async () => {
      const columns = columnsOfLayout(layout);
      const found = fieldsOf(await propose(await written(`${name}.csv`, csvOfLayout(columns))));
      const differing = columns.filter(({ header, fields }) => found[header]?.join() !== [...fields].sort().join());
      assert.deepEqual(
        differing.map(({ header }) => header),
        corrections[name] ?? [],
      );
    });
});

/** A car as pages describe it for search engines. */
const described = (vin: string, condition: string, unitCode: string, drive: string) => ({
  "@context": "https://schema.org",
  "@type": "Car",
  "@id": `https://dealer.example/${vin}`,
  name: "2022 Ford Escape SEL",
  vehicleIdentificationNumber: vin,
  brand: { "@type": "Brand", name: "Ford" },
  model: "Escape",
  vehicleModelDate: "2022",
  vehicleConfiguration: "SEL",
  mileageFromOdometer: { "@type": "QuantitativeValue", value: "10000", unitCode },
  itemCondition: condition,
  driveWheelConfiguration: drive,
  bodyType: "SUV",
  url: `https://dealer.example/${vin}`,
  vehicleEngine: { "@type": "EngineSpecification", name: "2.0L I4" },
  offers: {
    "@type": "Offer",
    price: 24500,
    seller: {
      "@type": "AutoDealer",
      name: "North Motors",
      address: { addressLocality: "Fresno", addressRegion: "CA", postalCode: "93721" },
    },
  },
});

test("cars described as JSON-LD are read with their units, conditions and sellers", async () => {
  const path = await written(
    "cars.json",
    JSON.stringify([
      described(vinOf(1), "https://schema.org/UsedCondition", "KMT", "https://schema.org/AllWheelDriveConfiguration"),
      described(vinOf(2), "NewCondition", "SMI", "FourWheelDriveConfiguration"),
    ]),
  );
  const settingsOfMap = { ...settings, day };
  const request = { set: [], records: undefined, isAccepting: false, currency: "USD" };
  const { trial, columns } = await database.using(async (session) =>
    mapFile(session, await fileAt(path), request, settingsOfMap),
  );
  assert.deepEqual(
    trial.listings.map((car) => [car.inventory_type, car.miles, car.drivetrain, car.trim, car.price, car.year]),
    [
      ["used", 6214, "AWD", "SEL", 24_500, 2022],
      ["new", 10_000, "4WD", "SEL", 24_500, 2022],
    ],
  );
  assert.deepEqual(trial.listings.map((car) => [car.dealer_name, car.dealer_city, car.vdp_url])[0], [
    "North Motors",
    "Fresno",
    `https://dealer.example/${vinOf(1)}`,
  ]);
  assert.deepEqual(
    columns.filter(({ column, fields }) => column.includes("@") && fields.length > 0),
    [],
  );
});

test("the columns of a file without a header fill the fields that their values look like", async () => {
  const rows = [1, 2].map(
    (n) => `"${n}","${n === 1 ? "U" : "N"}","${vinOf(n)}","Honda","2019","https://x.example/${n}.jpg","$${n}9,000"\n`,
  );
  const { sample, plans, content } = await propose(await written("plain.csv", rows.join("")));
  assert.deepEqual([sample.hasHeader, content.file], [false, { header: false }]);
  assert.deepEqual(
    plans.map(({ state, fields }) => `${state} ${fields.join()}`),
    [
      "unmapped ",
      ...["inventory_type", "vin", "make", "year", "photo_urls", "price"].map((field) => `suggested ${field}`),
    ],
  );
});

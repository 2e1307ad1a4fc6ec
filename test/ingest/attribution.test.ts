/** Attribution: which of several claiming dealers owns a car. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCaseTable } from "../support/case-table.ts";
import { dealerIdOf, type FeedRow, type Feeds, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const columns = ["case", "A", "B", "C", "A then", "B then", "C then", "owner", "decided by"] as const;

/**
 * Three dealers and one VIN on two days; A has the lowest id, C the highest. A cell describes the dealer's row:
 * `listed` is a used car without price or photos; `new`, `franchise` (the dealer sells that make new), `price` and
 * `photos` add to it; `without` is a delivery without the VIN; `-` is no delivery.
 */
const cases = parseCaseTable(
  columns,
  `
  case                                                 | A             | B             | C      | A then  | B then        | C then | owner | decided by
  only one dealer lists it                             | listed        | -             | -      |         |               |        | A     | only_claimant
  a new car belongs to the franchise of its make       | new price     | new franchise | -      |         |               |        | B     | franchise_of_the_make
  a used car does not                                  | listed price  | listed franchise photos | - |    |               |        | A     | has_a_price
  nor does a new car at another make's franchise       | new           | new other franchise price | - |  |               |        | B     | has_a_price
  a listing with a price beats one without             | listed photos | listed price  | -      |         |               |        | B     | has_a_price
  of two with a price, the one with photos             | listed price  | listed price photos | - |        |               |        | B     | has_photos
  of two without a price, the one with photos          | listed        | listed photos | -      |         |               |        | B     | has_photos
  all else equal, the lowest dealer id                 | listed price  | listed price  | listed |         |               |        | A     | lowest_dealer_id
  of three, the rule that separates the first two      | listed        | listed price photos | listed price | |           |        | B     | has_photos
  the current owner keeps it against a better claim    | listed        | -             | -      | listed  | listed price photos | -      | A     | current_owner
  the current owner keeps it against the franchise     | new           | -             | -      | new     | new franchise price | -      | A     | current_owner
  the owner keeps it while its feed is missing         | listed        | -             | -      | -       | listed price photos | -      | A     | current_owner
  a sole owner keeps it while its feed is missing      | listed        | -             | -      | -       | -             | -      | A     | only_claimant
  the owner drops it, the other claimant gets it       | listed price  | listed        | -      | without | listed        | -      | B     | only_claimant
  the owner drops it, a newcomer gets it               | listed price  | -             | -      | without | listed        | -      | B     | only_claimant
  the owner drops it, the earliest other claim gets it | listed price  | -             | listed | without | listed        | listed | C     | earliest_claim
  a price counts more than an earlier claim            | listed price  | -             | listed | without | listed price  | listed | B     | has_a_price
  a claim holds while its dealer's feed is missing     | listed price  | listed        | -      | without | -             | listed | B     | earliest_claim
  a new car at the franchise counts without its feed   | new franchise price | new franchise | - | without | -            | new price | B  | franchise_of_the_make
  a used car at the franchise does not                 | listed price  | listed franchise | -   | without | -             | listed price | C | has_a_price
  a price counts while its dealer's feed is missing    | listed price photos | listed price | - | without | -             | listed photos | B | has_a_price
`,
);

const letters = ["A", "B", "C"] as const;
const dealerOf = (index: number, letter: string): string => dealerIdOf(10 * (index + 1) + "ABC".indexOf(letter));

/** VINs of cars that a dealer always has, so that a feed without the tested VIN is not collapsed. */
const otherCar = (index: number, letter: string): number => 1000 + 10 * (10 * index + "ABC".indexOf(letter));

/** The feeds of one of the two days. Each case has its own VIN and its own three dealers. */
function feedsOf(cellOf: (row: (typeof cases)[number], letter: (typeof letters)[number]) => string): Feeds {
  const feeds = { dealers: [] as FeedRow[], inventory: [] as FeedRow[], deliveries: [] as FeedRow[] };
  for (const [index, row] of cases.entries()) {
    for (const letter of letters) {
      const dealer_id = dealerOf(index, letter);
      const cell = cellOf(row, letter);
      const [first, second] = [row[letter], row[`${letter} then`]].map((words) => words.includes("franchise"));
      const make = `${row.A} ${row.B}`.includes("other franchise") ? "Honda" : "Toyota";
      feeds.dealers.push({ dealer_id, name: `${letter} of case ${index}`, makes: first || second ? make : "" });
      if (cell === "" || cell === "-") continue;
      feeds.deliveries.push({ dealer_id });
      for (const other of [1, 2, 3])
        feeds.inventory.push({ vin: vinOf(otherCar(index, letter) + other), dealer_id, make: "toyota" });
      if (cell === "without") continue;
      feeds.inventory.push({
        vin: vinOf(index),
        dealer_id,
        inventory_type: cell.includes("new") ? "new" : "used",
        make: "toyota",
        price: cell.includes("price") ? 20_000 + index : "",
        photo_urls: cell.includes("photos") ? `https://images.example/${index}.jpg` : "",
      });
    }
  }
  return feeds;
}

const folder = await temporaryFolder(fileScope);
await writeFeeds(
  folder,
  "2026-03-01",
  feedsOf((row, letter) => row[letter]),
);
await writeFeeds(
  folder,
  "2026-03-02",
  feedsOf((row, letter) => row[`${letter} then`]),
);
const { lake } = await createLake(fileScope, folder, { hasServingFiles: false });
const claims = await queryLake(
  lake,
  `SELECT strftime(as_of, '%Y-%m-%d') AS day, * FROM claims_days
   ORDER BY day, vin, dealer_id`,
);

for (const [index, row] of cases.entries()) {
  test(`${row.case}: ${row.owner}, by the rule "${row["decided by"]}"`, () => {
    const isOneDay = letters.every((letter) => row[`${letter} then`] === "");
    const day = isOneDay ? "2026-03-01" : "2026-03-02";
    const claimsOfVin = claims.filter((claim) => claim.vin === vinOf(index) && claim.day === day);
    const owners = claimsOfVin.filter(({ is_owner }) => is_owner === true);
    assert.deepEqual(
      owners.map(({ dealer_id, decided_by }) => ({ dealer_id, decided_by })),
      [{ dealer_id: dealerOf(index, row.owner), decided_by: row["decided by"] }],
    );
    assert.deepEqual(
      [...new Set(claimsOfVin.map(({ decided_by }) => decided_by))],
      [row["decided by"]],
      "every claim names the rule",
    );
  });
}

test("every claim is stored, contenders included", () => {
  const listed = cases.flatMap((row, index) =>
    letters.filter((letter) => !["", "-", "without"].includes(row[letter])).map((letter) => [index, letter] as const),
  );
  assert.deepEqual(
    claims
      .filter(({ day, vin }) => day === "2026-03-01" && String(vin) < vinOf(otherCar(0, "A")))
      .map(({ vin, dealer_id }) => `${vin} ${dealer_id}`)
      .sort(),
    listed.map(([index, letter]) => `${vinOf(index)} ${dealerOf(index, letter)}`).sort(),
  );
});

test("a claim starts on the first day of its dealer's listing and has the day of its last sighting", () => {
  const index = cases.findIndex(({ case: name }) => name === "the owner keeps it while its feed is missing");
  const claimsOfVin = claims.filter((claim) => claim.vin === vinOf(index) && claim.day === "2026-03-02");
  assert.deepEqual(
    claimsOfVin.map(({ dealer_id, claimed_since, sighted_on }) => ({ dealer_id, claimed_since, sighted_on })),
    [
      { dealer_id: dealerOf(index, "A"), claimed_since: "2026-03-01", sighted_on: "2026-03-01" },
      { dealer_id: dealerOf(index, "B"), claimed_since: "2026-03-02", sighted_on: "2026-03-02" },
    ],
  );
});

test("no VIN is active twice, and every active listing is at its owner's dealer", async () => {
  const misattributed = await queryLake(
    lake,
    `SELECT active.vin FROM active LEFT JOIN claims
       ON claims.vin = active.vin AND claims.dealer_id = active.dealer_id AND is_owner WHERE claims.vin IS NULL
     UNION ALL SELECT vin FROM active GROUP BY vin HAVING count(*) > 1`,
  );
  assert.deepEqual(misattributed, []);
});

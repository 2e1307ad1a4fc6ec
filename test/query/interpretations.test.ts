/**
 * Operation `interpretQuestion`: a table of questions and their filters; every character of a question belongs to one part, and listing search accepts
 * the filters; questions that are composed of filters are interpreted as these.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../src/contract/types.ts";
import { parseCaseTable } from "../support/case-table.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

type Interpretation = AnswerOf<"interpretQuestion">["data"];

const { lake } = await createLake(fileScope);
const version = await openVersion(fileScope, lake);

async function interpreted(q: string, of = version): Promise<Interpretation> {
  const answer = (await answerPath(of, `/v1/interpret?${new URLSearchParams({ q })}`)) as AnswerOf<"interpretQuestion">;
  return answer.data;
}

const textOf = (filters: Readonly<Record<string, string>>): string =>
  Object.entries(filters)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");

/** Words that are ignored, not understood (in brackets with what is suggested), and ambiguous, with their alternatives. */
const questions = parseCaseTable(
  ["question", "filters", "ignored", "unmatched", "ambiguous"],
  `
question                                               | filters                                                                                                      | ignored     | unmatched                        | ambiguous
used awd rav4 under 25k within 50 miles of 94110       | inventory_type=used,certified&drivetrain=AWD&make=Toyota&model=RAV4&max_price=25000&radius=50&postal_code=94110 |             |                                  |
new or certified Toyota Camry below $30,000            | inventory_type=new,certified&make=Toyota&model=Camry&max_price=30000                                          | or          |                                  |
pre-owned chevy silverado 1500 4x4 in Texas            | inventory_type=used,certified&make=Chevrolet&model=Silverado 1500&drivetrain=4WD&state=TX                     |             |                                  |
not used honda                                         | exclude_inventory_type=used,certified&make=Honda                                                              |             |                                  |
certified used or new honda                            | inventory_type=certified,new&make=Honda                                                                       | or          |                                  |
a red ford mustang gt with leather seats               | base_exterior_color=Red&make=Ford&model=Mustang&trim=GT&features=leather_seats                                | a,with      |                                  |
pickup trucks for sale                                 | body_type=Pickup                                                                                              | for sale    |                                  |
vw or bmw suvs                                         | make=Volkswagen,BMW&body_type=SUV                                                                             | or          |                                  |
f150 fwd                                               | make=Ford&model=F-150&drivetrain=FWD                                                                          |             |                                  |
honda cr v ex-l                                        | make=Honda&model=CR-V&trim=EX-L                                                                               |             |                                  |
hybrid or plug-in hybrid                               | fuel_type=Hybrid,Plug-In Hybrid                                                                               | or          |                                  |
diesel                                                 | fuel_type=Diesel                                                                                              |             |                                  |
phev                                                   | powertrain_type=PHEV                                                                                          |             |                                  |
manual                                                 | transmission=6-Speed Manual                                                                                   |             |                                  |
8-speed automatic                                      | transmission=8-Speed Automatic                                                                                |             |                                  |
grey accord with black interior                        | base_exterior_color=Gray&make=Honda&model=Accord&base_interior_color=Black                                    | with        |                                  |
black leather interior                                 | base_interior_color=Black&features=leather_seats                                                              | interior    |                                  |
black on black                                         | base_exterior_color=Black&base_interior_color=Black                                                           | on          |                                  |
white on red explorer                                  | base_exterior_color=White&base_interior_color=Red&make=Ford&model=Explorer                                    | on          |                                  |
silver with tan leather                                | base_exterior_color=Silver&base_interior_color=Beige&features=leather_seats                                   | with        |                                  |
v6 mustang                                             | cylinders=6&make=Ford&model=Mustang                                                                           |             |                                  |
mustang with a v8                                      | make=Ford&model=Mustang&cylinders=8                                                                           | with,a      |                                  |
4 cylinder explorer                                    | cylinders=4&make=Ford&model=Explorer                                                                          |             |                                  |
electric with 250 miles of range                       | fuel_type=Electric                                                                                            | with        | 250 miles of range!              |
over 300 miles of electric range                       |                                                                                                               |             | over 300 miles of electric range! |
300 miles of range                                     |                                                                                                               |             | 300 miles of range!              |
cars in Range                                          | postal_code=36473&radius=25                                                                                   | cars        |                                  |
suv within 30 miles of Price, UT                       | body_type=SUV&radius=30&postal_code=84501                                                                     |             |                                  |
surprise me                                            |                                                                                                               | me          | surprise                         |
cars in Surprise                                       | postal_code=85374&radius=25                                                                                   | cars        |                                  |
price of a camry                                       | make=Toyota&model=Camry                                                                                       | of,a        | price                            |
without leather                                        | exclude_features=leather_seats                                                                                |             |                                  |
sunroof but no leather                                 | features=sunroof&exclude_features=leather_seats                                                               | but         |                                  |
price dropped in the last 7 days                       | min_price_drops=1&price_changed_after=2026-11-12                                                              |             |                                  |
reduced this week                                      | min_price_drops=1&price_changed_after=2026-11-12                                                              |             |                                  |
price cut in the past 2 weeks                          | min_price_drops=1&price_changed_after=2026-11-05                                                              |             |                                  |
price dropped in the last 999999999 days               | min_price_drops=1                                                                                             |             | in the last 999999999 days!      |
dropped by 1000                                        | min_price_drops=1&min_price_drop=1000                                                                         |             |                                  |
price reduced more than $500                           | min_price_drops=1&min_price_drop=500                                                                          |             |                                  |
reduced under 30k                                      | min_price_drops=1&max_price=30000                                                                             |             |                                  |
sold in the last week                                  | sold_within_days=7                                                                                            |             |                                  |
sold last month                                        | sold_within_days=30                                                                                           |             |                                  |
listed this week                                       | max_days_on_market=7                                                                                          |             |                                  |
on the market over 2 months                            | min_days_on_market=60                                                                                         |             |                                  |
less than 3 years old                                  | year=2024,2025,2026,2027                                                                                      |             |                                  |
over 10 years old                                      |                                                                                                               |             | over 10 years old!               |
two door convertible                                   | doors=2&body_type=Convertible                                                                                 |             |                                  |
four door sedan                                        | doors=4&body_type=Sedan                                                                                       |             |                                  |
stick shift                                            | transmission=6-Speed Manual                                                                                   |             |                                  |
diesel f-250                                           | fuel_type=Diesel&make=Ford&model=F-250 Super Duty                                                             |             |                                  |
f                                                      |                                                                                                               |             | f [4WD,FWD,Ford]                 |
good on gas                                            |                                                                                                               |             | good on gas!                     |
fuel efficient suv                                     | body_type=SUV                                                                                                 |             | fuel efficient!                  |
under $400 a month                                     |                                                                                                               |             | under $400 a month!              |
only toyota                                            | make=Toyota                                                                                                   | only        |                                  |
interior in tan                                        | base_interior_color=Beige                                                                                     |             |                                  |
sunroof and heated seats                               | features=sunroof,heated_seats                                                                                 | and         |                                  |
2019                                                   | year=2019                                                                                                     |             |                                  |
2018-2020 civic                                        | year=2018,2019,2020&make=Honda&model=Civic                                                                    |             |                                  |
civic 2018 or newer, before 2021                       | make=Honda&model=Civic&year=2018,2019,2020                                                                    |             |                                  |
since 2024                                             | year=2024,2025,2026,2027                                                                                      |             |                                  |
2025+                                                  | year=2025,2026,2027                                                                                           |             |                                  |
older than 1990                                        | year=1989                                                                                                     |             |                                  |
20-30k                                                 | min_price=20000&max_price=30000                                                                               |             |                                  |
between $20,000 and $30,000                            | min_price=20000&max_price=30000                                                                               |             |                                  |
at least 15000                                         | min_price=15000                                                                                               |             |                                  |
25k or less                                            | max_price=25000                                                                                               |             |                                  |
no more than 25 grand                                  | max_price=25000                                                                                               |             |                                  |
$300                                                   |                                                                                                               |             | $300!                            |
under $300 a month                                     |                                                                                                               |             | under $300 a month!              |
under 25                                               |                                                                                                               |             | under 25!                        |
over 30k under 20k                                     | min_price=30000                                                                                               |             | under 20k!                       |
under 40k miles                                        | max_mileage=40000                                                                                             |             |                                  |
mileage below 40,000                                   | max_mileage=40000                                                                                             |             |                                  |
10,000 to 20,000 mi                                    | min_mileage=10000&max_mileage=20000                                                                           |             |                                  |
low miles                                              |                                                                                                               |             | low miles                        |
msrp over 40k                                          | min_msrp=40000                                                                                                |             |                                  |
listed within 7 days                                   | max_days_on_market=7                                                                                          |             |                                  |
sold in the last 30 days                               | sold_within_days=30                                                                                           |             |                                  |
sold tacoma                                            | inventory_status=sold&make=Toyota&model=Tacoma                                                                |             |                                  | tacoma: city=Tacoma, WA
near Austin, TX                                        | postal_code=78750&radius=25                                                                                   |             |                                  |
in tx                                                  | state=TX                                                                                                      |             |                                  |
CA or CO                                               | state=CA,CO                                                                                                   | or          |                                  |
TOYOTA IN TX OR CA                                     | make=Toyota&state=TX,CA                                                                                       | OR          |                                  |
94110                                                  | postal_code=94110&radius=25                                                                                   |             |                                  |
25 miles from san jose                                 | radius=25&postal_code=95127                                                                                   |             |                                  |
under 25 miles from 94110                              | radius=25&postal_code=94110                                                                                   |             |                                  |
within 10 miles                                        |                                                                                                               |             | within 10 miles!                 |
santa fe                                               | make=Hyundai&model=Santa Fe                                                                                   |             |                                  | santa fe: city=Santa Fe, NM; city=Santa Fe, TX
in santa fe                                            | postal_code=87507&radius=25                                                                                   |             |                                  | in santa fe: city=Santa Fe, TX; model=Santa Fe
santa fe, nm                                           | postal_code=87507&radius=25                                                                                   |             |                                  |
in new york                                            | state=NY                                                                                                      |             |                                  | in new york: city=New York, NY
near new york                                          | postal_code=10034&radius=25                                                                                   |             |                                  | near new york: state=NY
1FTEW1E5                                               | vin_pattern=1FTEW1E5*                                                                                         |             |                                  |
t26-4266 or u4360a?                                    | stock_number=t26-4266,u4360a                                                                                  | or          |                                  |
toyota stock number T26-4266                           | make=Toyota&stock_number=T26-4266                                                                             | stock number |                                  |
stock # 94110                                          |                                                                                                               | stock       | 94110!                           |
in stock 2019 toyota                                   | availability_status=stock&year=2019&make=Toyota                                                               |             |                                  |
T26-9999                                               |                                                                                                               |             | T26,9999                         |
almaden ridge toyota                                   | dealer_id=2f6c81d4-9b0e-4c57-8a13-e5d27f40b96a                                                                |             |                                  |
edge from private seller                               | make=Ford&model=Edge                                                                                          | from        | private,seller [Silver]          |
great deal on a tesla                                  | value_rating=great&make=Tesla                                                                                 | on,a        |                                  |
reduced explorer                                   | min_price_drops=1&make=Ford&model=Explorer                                                                    |             |                                  |
all-in price under 30k                                 | max_all_in_price=30000                                                                                        |             |                                  |
great deals sold                                       | value_rating=great                                                                                            |             | sold!                            |
cheapest                                               | sort=price                                                                                                    |             |                                  |
newest lowest miles                                    | sort=days_on_market                                                                                           |             | lowest miles!                    |
nearest                                                |                                                                                                               |             | nearest!                         |
nearest near 94110                                     | sort=distance&postal_code=94110&radius=25                                                                     |             |                                  |
not red or black suv                                   | exclude_base_exterior_color=Red,Black&body_type=SUV                                                           | or          |                                  |
no accidents                                           |                                                                                                               |             | no accidents!                    |
without a sunroof                                      | exclude_features=sunroof                                                                                      |             |                                  |
not in Texas                                           | exclude_state=TX                                                                                              |             |                                  |
not near 94110                                         |                                                                                                               |             | not near 94110!                  |
suv not within 50 miles of 94110                       | body_type=SUV                                                                                                 |             | not within 50 miles of 94110!    |
honda civic 2018 max $20,000                           | make=Honda&model=Civic&year=2018&max_price=20000                                                              |             |                                  |
rav4 under 40k miles near 94110                        | make=Toyota&model=RAV4&max_mileage=40000&postal_code=94110&radius=25                                          |             |                                  |
toyota camry 2018 and under 30k miles                  | make=Toyota&model=Camry&year=2018&max_mileage=30000                                                           | and         |                                  |
toyota camry 2018 and under                            | make=Toyota&model=Camry&year=2017,2018                                                              |             |                                  |
in-stock 2020 camry                                    | availability_status=stock&year=2020&make=Toyota&model=Camry                                                   |             |                                  |
camry near 94110-1234                                  | make=Toyota&model=Camry&postal_code=94110&radius=25                                                           |             |                                  |
toyota camry 2018 under 30k miles                      | make=Toyota&model=Camry&year=2018&max_mileage=30000                                                           |             |                                  |
under 32.3k                                            | max_price=32300                                                                                               |             |                                  |
suv under 100000 km                                    | body_type=SUV                                                                                                 |             | under 100000 km!                 |
one owner, clean title, no salvage                     | keywords=one_owner,clean_title&exclude_keywords=branded                                                       |             |                                  |
salvage                                                |                                                                                                               |             | salvage!                         |
toyotta camrry                                         | make=Toyota&model=Camry                                                                                       |             |                                  |
honda acord nere Autsin TX                             | make=Honda&model=Accord&postal_code=78750&radius=25                                                           |             | nere                             |
a 4 door sedan with 5 seats                            | doors=4&body_type=Sedan&seating_capacity=5                                                                    | a,with      |                                  |
black over tan sedan                                   | base_exterior_color=Black&base_interior_color=Beige&body_type=Sedan                                           |             |                                  |
any color but white                                    | exclude_base_exterior_color=White                                                                             |             |                                  |
don't want black                                       | exclude_base_exterior_color=Black                                                                             |             |                                  |
outside texas                                          | exclude_state=TX                                                                                              |             |                                  |
w/o sunroof                                            | exclude_features=sunroof                                                                                      |             |                                  |
without black seats                                    | exclude_base_interior_color=Black                                                                             |             |                                  |
everything except diesel                               | exclude_fuel_type=Diesel                                                                                      |             |                                  |
nothing older than 2019                                | year=2019,2020,2021,2022,2023,2024,2025,2026,2027                                                             |             |                                  |
nothing over 30k                                       | max_price=30000                                                                                               |             |                                  |
no older than 5 years                                  | year=2021,2022,2023,2024,2025,2026,2027                                                                       |             |                                  |
3 years old or newer                                   | year=2023,2024,2025,2026,2027                                                                                 |             |                                  |
less than 5 years                                      | year=2022,2023,2024,2025,2026,2027                                                                            |             |                                  |
older than 60 days on lot                              | min_days_on_market=60                                                                                         |             |                                  |
5 year warranty                                        |                                                                                                               |             | 5 year warranty!                 |
2017 onwards                                           | year=2017,2018,2019,2020,2021,2022,2023,2024,2025,2026,2027                                                   |             |                                  |
pre 2015                                               | year=2014                                                                                                     |             |                                  |
2019 at least                                          | year=2019,2020,2021,2022,2023,2024,2025,2026,2027                                                             |             |                                  |
2018-present                                           | year=2018,2019,2020,2021,2022,2023,2024,2025,2026,2027                                                        |             |                                  |
2019 or newer 7 seats under 40000                      | year=2019,2020,2021,2022,2023,2024,2025,2026,2027&seating_capacity=7&max_price=40000                          |             |                                  |
100k+ miles                                            | min_mileage=100000                                                                                            |             |                                  |
under 60,000mi                                         | max_mileage=60000                                                                                             |             |                                  |
sub-30k miles                                          | max_mileage=30000                                                                                             |             |                                  |
more expensive than 50k                                | min_price=50000                                                                                               |             |                                  |
budget of 25k                                          | max_price=25000                                                                                               |             |                                  |
in the price range of 20-25k                           | min_price=20000&max_price=25000                                                                               | in,the      |                                  |
300 hp                                                 |                                                                                                               |             | 300 hp!                          |
over 300hp                                             |                                                                                                               |             | over 300hp!                      |
payload 2000                                           |                                                                                                               |             | payload 2000!                    |
towing capacity 7000 lbs                               |                                                                                                               |             | towing capacity!,7000 lbs!       |
range over 250 miles                                   |                                                                                                               |             | range over 250 miles!            |
good mpg under 30k                                     | max_price=30000                                                                                               |             | good,mpg!                        |
400 hp or more                                         |                                                                                                               |             | 400 hp or more!                  |
3.5l v6                                                | cylinders=6                                                                                                   |             | 3.5l!                            |
4dr sedan                                              | doors=4&body_type=Sedan                                                                                       |             |                                  |
seats 7                                                | seating_capacity=7                                                                                            |             |                                  |
hybrid awd 3 row                                       | fuel_type=Hybrid&drivetrain=AWD&features=third_row_seats                                                      |             |                                  |
new listings today                                     | max_days_on_market=1                                                                                          |             |                                  |
listed less than a week ago                            | max_days_on_market=7                                                                                          | ago         |                                  |
price dropped by at least 2000 in the last month       | min_price_drops=1&min_price_drop=2000&price_changed_after=2026-10-20                                          |             |                                  |
luxury suv                                             | body_type=SUV                                                                                                 |             | luxury                           |
no accident                                            |                                                                                                               |             | no accident!                     |
couple of hondas                                       | make=Honda                                                                                                    | of          | couple [Coupe]                   |
silverado under 30k                                    | make=Chevrolet&model=Silverado 1500&max_price=30000                                                           |             |                                  |
silverado 2500                                         | make=Chevrolet&model=Silverado 1500                                                                           |             | 2500 [Ram 1500]                  |
sierra denali 2500                                     | make=GMC&model=Sierra 1500                                                                                    |             | denali,2500 [Ram 1500]           |
f250                                                   | make=Ford&model=F-250 Super Duty                                                                              |             |                                  |
f-150s                                                 | make=Ford&model=F-150                                                                                         |             |                                  |
10 speed                                               | transmission=10-Speed Automatic                                                                               |             |                                  |
evs near me                                            | fuel_type=Electric                                                                                            |             | near me!                         |
silver spring                                          | postal_code=20902&radius=25                                                                                   |             |                                  |
st louis                                               | postal_code=63125&radius=25                                                                                   |             |                                  |
toyota in orange county                                | make=Toyota                                                                                                   |             | in orange county!                |
100 miles around chicago                               | radius=100&postal_code=60649                                                                                  |             |                                  |
zip 10001                                              | postal_code=10001&radius=25                                                                                   | zip         |                                  |
below market value                                     | value_rating=great,good                                                                                       |             |                                  |
trucks with tow hitch                                  | body_type=Pickup&features=tow_package                                                                         | with        |                                  |
`,
);

for (const { question, filters, ...others } of questions)
  test(question, async () => {
    const { ignored, unmatched, ambiguous, ...found } = await interpreted(question);
    assert.equal(textOf(found.filters), filters);
    assert.equal(ignored.map(({ text }) => text).join(), others.ignored);
    const unknown = unmatched.map(({ text, reason, suggestions }) => {
      const suggested = suggestions.length === 0 ? "" : ` [${suggestions.map((one) => one.text).join()}]`;
      return `${text}${reason === undefined ? "" : "!"}${suggested}`;
    });
    assert.equal(unknown.join(), others.unmatched);
    const meanings = ambiguous.map(
      ({ text, alternatives }) =>
        `${text}: ${alternatives.map(({ attribute, value }) => `${attribute}=${value}`).join("; ")}`,
    );
    assert.equal(meanings.join(), others.ambiguous);
  });

/** Returns the characters of a question that are neither white space nor punctuation and belong to no part, or to several. */
function uncounted(q: string, { spans, ignored, unmatched }: Interpretation): readonly string[] {
  const parts = [...spans, ...ignored, ...unmatched];
  for (const { text, start, end } of parts) assert.equal(q.slice(start, end), text, q);
  return [...q.matchAll(/[^\s\p{P}]/gu)]
    .filter(({ index }) => parts.filter(({ start, end }) => start <= index && index < end).length !== 1)
    .map(([character]) => character);
}

/** Fails unless the filters are those of the spans, and the URL is theirs. */
function assertConsistent(q: string, { filters, spans, url }: Interpretation): void {
  const named = new Set(spans.flatMap((span) => Object.keys(span.filters)));
  assert.deepEqual(new Set(Object.keys(filters)), named, q);
  assert.deepEqual(Object.fromEntries(new URL(url, "http://carquet.invalid").searchParams), filters, q);
}

const totalOf = async (url: string, parameters: Readonly<Record<string, string>>): Promise<number> => {
  const separator = url.includes("?") ? "&" : "?";
  const answer = await answerPath(version, `${url}${separator}${new URLSearchParams(parameters)}`);
  return (answer as AnswerOf<"searchListings">).pagination.total;
};

test("each character of a question belongs to one part, and listing search accepts the filters of any words", async () => {
  const chance = new Chance(11);
  const words = questions.flatMap(({ question }) => question.split(" "));
  const signs = [
    "🚗",
    "é",
    "$",
    "<",
    ">= 5",
    "+",
    "…",
    "-",
    "&",
    "٣",
    "ß",
    "e\u0301",
    "–",
    "'",
    "O'Fallon",
    "4.5l",
    "1,000,000,000,000",
    "k",
    "99999999",
  ];
  for (let draw = 0; draw < extentOf(150, 20_000); draw += 1) {
    const drawn = Array.from({ length: chance.integer(1, 12) }, () =>
      chance.pick(chance.happens(0.85) ? words : signs),
    );
    const q = drawn.join(chance.pick([" ", " ", ", ", "-"])).slice(0, 200);
    const answer = await interpreted(q);
    assert.deepEqual(uncounted(q, answer), [], q);
    assertConsistent(q, answer);
    if (draw % 3 === 0) await totalOf(answer.url, { limit: "1" });
  }
});

type Listing = AnswerOf<"searchListings">["data"][number];

/** Words, and the filters that they stand for. */
type Phrase = readonly [words: string, filters: Readonly<Record<string, string>>];

/** The attributes whose values are words without more. */
const plainAttributes = ["inventory_type", "body_type", "drivetrain", "fuel_type", "base_exterior_color"] as const;

/** Returns phrases that hold for a listing, each about another attribute. */
function phrasesOf(listing: Listing, chance: Chance, lastYear: number): readonly Phrase[] {
  const { make, model, trim, year, price, miles, state, postal_code, features = [] } = listing;
  const phrases: Phrase[] = plainAttributes.flatMap((name) => {
    const value = listing[name];
    // Used vehicles are also those that are sold as certified.
    return typeof value === "string" ? [[value, { [name]: value === "used" ? "used,certified" : value }] as const] : [];
  });
  phrases.push([`${make} ${model}`, { make: String(make), model: String(model) }]);
  if (trim !== null && trim !== undefined)
    phrases.push([`${make} ${model} ${trim}`, { make: String(make), model: String(model), trim }]);
  if (typeof year === "number") {
    const years = Array.from({ length: lastYear - year + 1 }, (_, index) => year + index);
    phrases.push(
      chance.pick<Phrase>([
        [String(year), { year: String(year) }],
        [`${year} or newer`, { year: years.join() }],
        [`since ${year}`, { year: years.join() }],
      ]),
    );
  }
  if (typeof price === "number") {
    const min = Math.floor(price / 1000);
    const max = Math.ceil((price + 1) / 1000);
    const least = { min_price: `${min * 1000}` };
    const greatest = { max_price: `${max * 1000}` };
    phrases.push(
      chance.pick<Phrase>([
        [`under ${max}k`, greatest],
        [`at most $${(max * 1000).toLocaleString("en-US")}`, greatest],
        [`over $${min}k`, least],
        [`$${min * 1000} or more`, least],
        [`${min}-${max}k`, { ...least, ...greatest }],
        [`between ${min} and ${max} thousand dollars`, { ...least, ...greatest }],
      ]),
    );
  }
  if (typeof miles === "number")
    phrases.push([`below ${(miles + 1).toLocaleString("en-US")} miles`, { max_mileage: String(miles + 1) }]);
  if (typeof state === "string") phrases.push([`in ${state}`, { state }]);
  if (typeof postal_code === "string" && typeof listing.latitude === "number")
    phrases.push([`within 50 miles of ${postal_code}`, { radius: "50", postal_code }]);
  const [feature] = features;
  if (feature !== undefined) phrases.push([feature.replaceAll("_", " "), { features: feature }]);
  const absent = ["Purple", "Orange"].find((color) => color !== listing.base_exterior_color) ?? "";
  phrases.push([`not ${absent}`, { exclude_base_exterior_color: absent }]);
  phrases.push(
    chance.pick<Phrase>([
      ["cheapest", { sort: "price" }],
      ["lowest mileage", { sort: "miles" }],
    ]),
  );
  return phrases;
}

test("an age below a year is shown as the model years from this one on", async () => {
  const { spans } = await interpreted("less than 1 year old");
  assert.deepEqual(
    spans.map(({ value }) => value),
    ["at least 2026"],
  );
});

test("a ZIP code that is a stock number too has both meanings, and with words before it that of the stock number", async () => {
  const stocked = { vin: vinOf(1), dealer_id: dealerIdOf(1), make: "Kia", stock_number: "94110" };
  const folder = await temporaryFolder(fileScope);
  await writeFeeds(folder, "2026-11-18", {
    dealers: [{ dealer_id: dealerIdOf(1), name: "One" }],
    inventory: [stocked],
  });
  const { lake: small } = await createLake(fileScope, folder);
  const opened = await openVersion(fileScope, small);
  const { filters, ambiguous } = await interpreted("94110", opened);
  assert.deepEqual(filters, { postal_code: "94110", radius: "25" });
  const meaning = { attribute: "stock_number", value: "94110", filters: { stock_number: "94110" } };
  assert.deepEqual(ambiguous, [{ text: "94110", start: 0, end: 5, alternatives: [meaning] }]);
  assert.deepEqual((await interpreted("stock 94110", opened)).filters, { stock_number: "94110" });
});

test("a question that is composed of filters is interpreted as these, and finds the car that they describe", async () => {
  const chance = new Chance(12);
  const answer = (await answerPath(
    version,
    "/v1/listings?limit=100&fields=default,features",
  )) as AnswerOf<"searchListings">;
  const listings = answer.data.filter(
    ({ make, model, features = [] }) => make && model && features.every((one) => /^[a-z_]+$/.test(one)),
  );
  const lastYear = Math.max(...version.dimensions.valuesOf("year").map(Number));
  for (let draw = 0; draw < extentOf(100, 10_000); draw += 1) {
    const listing = chance.pick(listings);
    const chosen = phrasesOf(listing, chance, lastYear).filter(() => chance.happens(0.4));
    const shuffled = chosen.toSorted(() => chance.next() - 0.5);
    const q = shuffled.map(([words]) => words).join(" with ");
    if (q === "" || q.length > 200) continue;
    const found = await interpreted(q);
    assert.deepEqual(found.unmatched, [], q);
    assert.deepEqual(found.filters, Object.assign({}, ...shuffled.map(([, filters]) => filters)), q);
    assert.deepEqual(uncounted(q, found), [], q);
    assert.equal(await totalOf(found.url, { limit: "1", vin_pattern: listing.vin }), 1, q);
  }
});

test("cities of the same name are alternatives from a tenth of the inhabitants of the largest one on", async () => {
  const alternativesOf = async (question: string): Promise<readonly string[]> =>
    (await interpreted(question)).ambiguous.flatMap(({ alternatives }) => alternatives.map(({ value }) => value));
  // 78,827 of 783,998 inhabitants, and 33,533 of 337,059.
  assert.ok((await alternativesOf("within 50 miles of portland")).includes("Portland, ME"));
  const ofRichmond = await alternativesOf("within 50 miles of richmond");
  assert.ok(ofRichmond.length > 0 && !ofRichmond.includes("Richmond, KY"), ofRichmond.join("; "));
});

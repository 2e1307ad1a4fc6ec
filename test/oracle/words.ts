/** What cars are called and made of in a random market: usual words, and odd ones that a query has to carry unharmed. */
import type { FeedRow } from "../support/feeds.ts";
import type { Chance } from "./chance.ts";

/** Models by make. */
export const catalogue: Readonly<Record<string, readonly string[]>> = {
  Toyota: ["Camry", "Corolla Cross", "RAV4", "4Runner"],
  Ford: ["F-150", "Mustang Mach-E", "E-Series Cutaway"],
  "Mercedes-Benz": ["C-Class", "E 350", "Sprinter 2500"],
  Škoda: ["Octavia", "Enyaq iV"],
  Citroën: ["C3 Aircross", "Ë-C4"],
  "O'Neil & Söhne": ["50%_off", '"Le Mans"', "No. 5/7"],
  比亚迪: ["汉", "Seal U"],
};

/** The words of each open category; a car has one of them, or none. */
export const categories = {
  model_code: ["2546", "K1/B", "a_b%", "X'1", "ÄÖ-9"],
  trim: ["LX", "EX-L", "Sport / Touring", '"Édition" Spéciale', "O'Brien", "A&B=C", "#1?", "50%", "c++", "null"],
  version: ["LX 4dr Sedan", "LX 2dr; Coupé", "日本仕様", "🚗 Fun", `Long ${"x".repeat(195)}`],
  body_type: ["SUV", "Sedan", "Pickup Truck", "Kombi/Wagon"],
  drivetrain: ["AWD", "FWD", "RWD", "4x4 (part time)"],
  fuel_type: ["Gasoline", "Diesel", "Hybrid", "Électricité"],
  powertrain_type: ["ICE", "HEV", "PHEV", "BEV"],
  transmission: ["Automatic", "Manual", "10-Speed Automatic", "e-CVT <auto>"],
  engine: ["2.5L I4", "3.5L V6", "5.0L V8 \\ Supercharged", "Electric|Dual"],
  assembly_location: [
    "Georgetown, Kentucky",
    "Dearborn, Michigan",
    "Mladá Boleslav",
    "Plant 2+3, Ohio",
    "Wien",
    "Wien, AT",
  ],
  assembly_country: ["Japan", "Mexico", "Österreich", "Côte d'Ivoire"],
  exterior_color: ["Celestial Silver Metallic", "Rouge d'Été", "White", "Oxford White", "BLACK/ONYX", "Jet-Black"],
  interior_color: ["Black SofTex", "Beige", "Graphite & Tan", "Noir à surpiqûres"],
  base_exterior_color: ["Silver", "White", "Black", "Mauve"],
  base_interior_color: ["Black", "Beige", "Taupe"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const features = [
  ...["heated_seats", "sunroof", "tow_hitch", "apple_carplay", "third_row", "blind_spot_monitor", "360_camera"],
  ...["Sièges_cuir", "it's", "a%b", "x y"],
];
export const optionCodes = ["FE", "3T", "A-1", "Ü9", "X/Y", "P'Q", "ZZ9", "0"];
export const keywords = ["one_owner", "clean_title", "branded", "fleet"];

/** What lots of cars have in common: those of one line are equal in most that can be asked for. */
const letters = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
const beginnings = ["4T1DAACK3TU", "4T1DAACK5SU", "1FTFW1E5XNF", "WDDZF4KB", "TMB", "JH4"];

/** A VIN of 17 characters, whose number makes it unlike any other. */
export function vinFrom(chance: Chance, number: number): string {
  const beginning = chance.happens(0.8) ? chance.pick(beginnings) : "";
  const ending = String(number).padStart(5, "0");
  const between = Array.from({ length: 17 - beginning.length - ending.length }, () => chance.pick([...letters]));
  return `${beginning}${between.join("")}${ending}`;
}

const pictureOf = (vin: string, n: number): string => `https://photos.example/${vin}/${n}.jpg?w=100&h=%20`;

/** What a car is, and keeps: a row of a feed without its dealer, its price and its miles. */
export function buildFrom(chance: Chance, vin: string): FeedRow {
  const make = chance.pick(Object.keys(catalogue));
  const known = <Value>(value: Value, likely = 0.88): Value | "" => (chance.happens(likely) ? value : "");
  const several = (words: readonly string[], most: number): string =>
    chance.happens(0.15) ? "" : chance.some(words, most).join("|");
  const texts = Object.entries(categories).map(([field, words]) => [field, known(wordFrom(chance, words))]);
  return {
    vin,
    make: known(make, 0.96),
    model: known(chance.pick(catalogue[make] ?? []), 0.96),
    year: known(chance.integer(2017, 2027), 0.95),
    cylinders: known(chance.pick([0, 3, 4, 6, 8])),
    doors: known(chance.pick([2, 3, 4, 5])),
    seating_capacity: known(chance.pick([2, 4, 5, 7, 12])),
    ...Object.fromEntries(texts),
    inventory_type: known(chance.pick(["new", "used", "used", "certified"])),
    availability_status: known(chance.pick(["stock", "stock", "transit", "build"])),
    stock_number: known(`#${chance.integer(1, 99)}/é'"`),
    vdp_url: known(`https://cars.example/${vin}?a=1&b=%2C`),
    photo_urls: Array.from({ length: chance.integer(0, 3) }, (_, n) => pictureOf(vin, n)).join("|"),
    features: several(features, 7),
    options_packages: several(optionCodes, 4),
    keywords: several(keywords, 2),
    ...msrpFrom(chance),
  };
}

/** A usual word, or one of very many that few cars share. */
function wordFrom(chance: Chance, words: readonly string[]): string {
  return chance.happens(0.12) ? `Rare No. ${chance.integer(1, 150)}` : chance.pick(words);
}

/** Of an MSRP, all, the base alone, or nothing is known. */
function msrpFrom(chance: Chance): FeedRow {
  const msrp = chance.happens(0.03) ? chance.integer(1000, 2_000_000) : chance.integer(70, 240) * 250;
  return chance.pick<FeedRow>([{ msrp }, { msrp }, { base_msrp: msrp - 500, msrp }, { base_msrp: msrp }, {}]);
}

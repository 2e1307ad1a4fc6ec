/** Random values: makes and models, open categories and tokens; most of them usual, some odd. */
import type { Chance } from "../../support/chance.ts";

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

/** Returns a make that first appears on this day, with its models. */
export function newMake(order: number): readonly [make: string, models: readonly string[]] {
  return [`Nouveau-Venu ${order}`, [`Modèle ${order}`, `0${order}`, `N${order} "GT"`]];
}

export const categories = {
  model_code: ["2546", "02546", "002546", "K1/B", "k1/b", "a_b%", "X'1", "ÄÖ-9", "äö-9"],
  trim: [
    ...["LX", "EX-L", "Sport / Touring", '"Édition" Spéciale', "O'Brien", "A&B=C", "#1?", "50%", "c++", "null"],
    ...["Sport", "SPORT", "sPort", "édition", "ÉDITION", "7", "07", "007", "50_", "50%_", "İstanbul", "🚙", "🚙🚙"],
  ],
  version: [
    ...["LX 4dr Sedan", "LX 2dr; Coupé", "日本仕様", "🚗 Fun", `Long ${"x".repeat(195)}`, `Long ${"x".repeat(194)}y`],
    ...["lx 4DR sedan", "“Quoted” ‘twice’", "0.50", "0.5", "🚗".repeat(30)],
  ],
  body_type: ["SUV", "Sedan", "Pickup Truck", "Kombi/Wagon", "kombi/WAGON"],
  drivetrain: ["AWD", "FWD", "RWD", "4x4 (part time)"],
  fuel_type: ["Gasoline", "Diesel", "Hybrid", "Électricité", "ÉLECTRICITÉ"],
  powertrain_type: ["ICE", "HEV", "PHEV", "BEV"],
  transmission: ["Automatic", "Manual", "10-Speed Automatic", "e-CVT <auto>", `CVT ${"é".repeat(90)}`],
  engine: ["2.5L I4", "3.5L V6", "5.0L V8 \\ Supercharged", "Electric|Dual", "002.5", "2.5", "_", "%", "a%c", "abc"],
  assembly_location: [
    ...["Georgetown, Kentucky", "Dearborn, Michigan", "Mladá Boleslav", "Plant 2+3, Ohio", "Wien", "Wien, AT"],
    ...["wien", "Graz|Steyr", "Coeur d'Alene, Idaho", `Halle ${"9".repeat(180)}`],
  ],
  assembly_country: ["Japan", "Mexico", "Österreich", "österreich", "Côte d'Ivoire"],
  exterior_color: [
    ...["Celestial Silver Metallic", "Rouge d'Été", "White", "Oxford White", "BLACK/ONYX", "Jet-Black"],
    ...["black/onyx", "ROUGE D'ÉTÉ", "№ 01", "№ 1", "100% White_ish"],
  ],
  interior_color: ["Black SofTex", "BLACK SOFTEX", "Beige", "Graphite & Tan", "Noir à surpiqûres", '"Cuir"'],
  base_exterior_color: ["Silver", "White", "Black", "Mauve"],
  base_interior_color: ["Black", "Beige", "Taupe"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const usualFeatures = [
  ...["heated_seats", "sunroof", "tow_hitch", "apple_carplay", "third_row", "blind_spot_monitor", "360_camera"],
  ...["Sièges_cuir", "SIÈGES_CUIR", "it's", "a%b", "a_b", "axb", "x y", '"quoted"', "🔥", "007", "7", "z".repeat(100)],
];

/** Option codes; the options feed describes all except `ZZ9`. */
export const optionCodes = ["FE", "3T", "A-1", "Ü9", "ü9", "X/Y", "P'Q", "ZZ9", "0", "00", "A%", "A_", "AX"];
const keywords = ["one_owner", "clean_title", "branded", "fleet"];

/** Most lists are unique: they have rare tokens, and one that no other vehicle has. */
const probabilities = { noList: 0.12, usualList: 0.25, onlyHere: 0.3 };

/** Returns the token lists of a vehicle. */
export function randomLists(chance: Chance, number: number): Readonly<Record<string, string>> {
  const randomTokens = (usual: readonly string[], max: number, rare: () => string, unique: string): string => {
    if (chance.happens(probabilities.noList)) return "";
    const tokens = [...chance.some(usual, max)];
    if (!chance.happens(probabilities.usualList)) {
      tokens.push(...Array.from({ length: chance.integer(1, max) }, rare));
      if (chance.happens(probabilities.onlyHere)) tokens.push(unique);
    }
    return tokens.join("|");
  };
  return {
    features: randomTokens(usualFeatures, 6, () => rareFeature(chance), `only on no. ${number}`),
    options_packages: randomTokens(optionCodes, 4, () => rareCode(chance), `O-${number}`),
    keywords: chance.happens(probabilities.noList) ? "" : chance.some(keywords, 2).join("|"),
  };
}

const rareFeature = (chance: Chance): string =>
  chance.pick(["Équipement", "équipement", "Pack 'Sport'", "0"]) + chance.integer(1, 120);

const rareCode = (chance: Chance): string => {
  const number = chance.integer(1, 99);
  return chance.pick([String(number), `0${number}`, `r${number}`, `R${number}`]);
};

/** Returns a usual value, or one of many rare ones. */
export function randomCategoryValue(chance: Chance, words: readonly string[]): string {
  return chance.happens(0.12) ? `Rare No. ${chance.integer(1, 150)}` : chance.pick(words);
}

const letters = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
const prefixes = ["4T1DAACK3TU", "4T1DAACK5SU", "1FTFW1E5XNF", "WDDZF4KB", "TMB", "JH4"];

/** Returns a VIN of 17 characters, unique by the number. */
export function randomVin(chance: Chance, number: number): string {
  const prefix = chance.happens(0.8) ? chance.pick(prefixes) : "";
  const suffix = String(number).padStart(5, "0");
  const middle = Array.from({ length: 17 - prefix.length - suffix.length }, () => chance.pick([...letters]));
  return `${prefix}${middle.join("")}${suffix}`;
}

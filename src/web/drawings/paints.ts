/** The paint of a car: by the words of its color's name, or else its base color, shifted a little by the name. */
import { ownValue } from "../../base/json.ts";

/** Paints by words of names, the most specific first: the first one whose words are all in a name is its paint. */
const paintsOfWords = [
  "soul red #9c1420, red diamond #a9151c, rapid red #96141f, race red #c3161c, torch red #c3161c",
  "tornado red #b8131c, barcelona red #8f1420, crimson #8e1520, scarlet #b8131c, ruby #8b1522, garnet #6f1420",
  "burgundy #5d1722, maroon #5d1722, velvet red #8d1420, cherry #7f121c, multi coat red #b3171f",
  "blueprint #225288, cavalry blue #6d8ba1, antimatter #23303f, velocity blue #1261b5, lightning blue #1c4f97",
  "laser blue #1b63bb, hydro blue #1960ae, sapphire #1e3f74, cobalt #1d3f8c, navy #1d2b45, midnight blue #1b2438",
  "atlas blue #23538b, surf blue #3f7ca8, ice blue #a8bfc9, sky blue #7ea5bf, teal #1c6a70, turquoise #1f8b90",
  "emerald #1d4a41, army green #4b5340, sarge green #4e5a41, olive #55583d, lunar rock #a3a899, sage #8a9583",
  "forest #21402f, lime #8dbb2c, white pearl #eeeae0, pearl white #eeeae0, wind chill #eceeed, ice cap #f4f5f3",
  "platinum white #ecece8, snow #f3f3f1, cream #e6dfca, ivory #e9e4d3, sand #c9b892, champagne #cbbd9f",
  "bronze #6f5a42, copper #8b5230, quicksand #b49d72, charcoal #3f4447, graphite #474d51, magnetic #55595c",
  "gun metal #4d5357, gunmetal #4d5357, machine gray #5b6064, celestial silver #b1b6b9, iconic silver #a9b0b3",
  "midnight #15181c",
]
  .flatMap((line) => line.split(", "))
  .map((entry) => ({ words: entry.split(" ").slice(0, -1), paint: entry.slice(-"#rrggbb".length) }));

const paintsOfBases: Readonly<Record<string, string>> = {
  Beige: "#c2b396",
  Black: "#17191b",
  Blue: "#2b5b93",
  Brown: "#57432f",
  Gold: "#b59a5f",
  Gray: "#6b7276",
  Green: "#35573f",
  Orange: "#c65a1e",
  Purple: "#4b2f63",
  Red: "#a81c22",
  Silver: "#b4babd",
  White: "#f1f2f0",
  Yellow: "#d9a514",
};

/** The paint of a car whose color is unknown, and of a model. */
const plainPaint = "#6d8ba1";

/** How far the name of a color shifts its base color, in each of red, green and blue. */
const shiftMax = 10;

/** Returns a number that is the same for the same text. */
export function textHash(text: string): number {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}

/** Returns the paint of a color, as `#rrggbb`, by its name and its base color. */
export function paintOf(name: string | null | undefined, base: string | null | undefined): string {
  const words = (name ?? "").toLowerCase();
  const named = paintsOfWords.find((paint) => paint.words.every((word) => words.includes(word)));
  if (named !== undefined) return named.paint;
  const paint = ownValue(paintsOfBases, base ?? "");
  return paint === undefined ? plainPaint : shifted(paint, textHash(words));
}

/** Returns a paint, lighter or darker by a hash. */
function shifted(paint: string, hash: number): string {
  const shift = (hash % (2 * shiftMax + 1)) - shiftMax;
  const parts = [1, 3, 5].map((at) =>
    Math.min(250, Math.max(10, Number.parseInt(paint.slice(at, at + 2), 16) + shift)),
  );
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

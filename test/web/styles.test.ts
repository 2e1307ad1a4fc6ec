/** The tokens of the style sheet: each color of a text is readable on the surfaces that it stands on, in light and dark. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const tokens = readFileSync("src/web/styles/tokens.css", "utf8");

/** Returns the opaque colors of a scheme: a token has one for both, or `light-dark(light, dark)`. */
const colorsOf = (scheme: 0 | 1): ReadonlyMap<string, string> =>
  new Map(
    [...tokens.matchAll(/--([\w-]+):\s*(?:light-dark\((#\w+), (#\w+)\)|(#\w+));/g)].flatMap(
      ([, name = "", light, dark, both]) => {
        const color = both ?? [light, dark][scheme] ?? "";
        return /^#([\da-f]{3}|[\da-f]{6})$/.test(color) ? [[name, color] as const] : [];
      },
    ),
  );

const channelsOf = (color: string): readonly number[] => {
  const digits = color.length === 4 ? color.replaceAll(/[\da-f]/g, "$&$&") : color;
  return [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16) / 255);
};

/** Returns the relative luminance of a color (WCAG 2.2). */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminanceOf(one), luminanceOf(other)].sort((first, second) => second - first);
  return (light + 0.05) / (dark + 0.05);
}

const surfaces = "paper sheet sunken stage sky sand leaf lilac rose".split(" ");
const softs = ["petrol", "gold", "coral", "alert", "great", "good", "fair", "high"];

/** The least contrast of texts on surfaces: 4.5 for texts, 3 for marks and the borders of fields. */
const pairs: readonly (readonly [texts: readonly string[], surfaces: readonly string[], least: number])[] = [
  [["ink", "ink2", "ink3", "petrol"], surfaces, 4.5],
  [["coral"], ["paper", "sheet", "sky", "sand", "leaf", "lilac", "rose"], 4.5],
  [["alert"], ["sheet", "paper"], 4.5],
  [["ink", "ink2"], softs.map((name) => `${name}-soft`), 4.5],
  [["on-night", "on-night2", "gold"], ["night", "night2"], 4.5],
  [["on-petrol"], ["petrol"], 4.5],
  [["on-gold"], ["gold"], 4.5],
  [["on-alert"], ["alert"], 4.5],
  [["petrol2", "field"], ["sheet"], 3],
  ...softs.map((name) => [[name === "gold" ? "gold-ink" : name], [`${name}-soft`], 4.5] as const),
];

test("texts are readable on their surfaces in light and dark, and marks are seen", () => {
  for (const [scheme, name] of ["light", "dark"].entries()) {
    const colors = colorsOf(scheme === 0 ? 0 : 1);
    for (const [texts, grounds, least] of pairs)
      for (const text of texts)
        for (const ground of grounds) {
          const contrast = contrastOf(colors.get(text) ?? assert.fail(text), colors.get(ground) ?? assert.fail(ground));
          assert.ok(contrast >= least, `${text} on ${ground} in ${name}: ${contrast.toFixed(2)}, expected ${least}`);
        }
  }
});

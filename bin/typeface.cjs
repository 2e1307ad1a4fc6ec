/**
 * Writes the typeface of the pages to the standard output, as WOFF2: Archivo with the characters of Western languages and the signs that pages
 * use, at the weights and widths of the style sheet. That is a third of the published file.
 */
const { readFileSync } = require("node:fs");
const subsetFont = require("subset-font");

const published = require.resolve("@fontsource-variable/archivo/files/archivo-latin-wdth-normal.woff2");

/** Returns the characters from one code point to another. */
const characters = (first, last) => String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));

const shown = `${characters(0x20, 0x7e)}\u00a0©°·×½éèêëáàâäãåçíìîïñóòôöõøúùûüÉÁÍÑÓÖÜß¿¡£€−–—‘’“”•…←↑→↓`;
const options = {
  targetFormat: "woff2",
  variationAxes: { wght: { min: 400, max: 750 }, wdth: { min: 100, max: 116 } },
  keepFeatures: ["kern", "tnum", "mark", "ccmp"],
};

subsetFont(readFileSync(published), shown, options).then((typeface) => process.stdout.write(typeface));

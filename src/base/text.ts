/** The form in which texts are stored and compared, for JavaScript and, by the same classes of characters, for SQL. */

/**
 * Characters that are not seen, as a class of RE2: format characters, control characters that are no white space, variation selectors, blank fillers.
 */
export const invisibleCharacters = String.raw`[\p{Cf}\x{00}-\x{08}\x{0e}-\x{1f}\x{7f}-\x{84}\x{86}-\x{9f}\x{034f}\x{115f}\x{1160}\x{180b}-\x{180f}\x{2800}\x{3164}\x{fe00}-\x{fe0f}\x{ffa0}\x{e0100}-\x{e01ef}]`;

/** White space of Unicode, as a class of RE2. */
export const whiteSpace = String.raw`[\x{09}-\x{0d}\x{85}\p{Z}]`;

/** Returns a regular expression of JavaScript for a pattern of RE2. */
const expressionOf = (pattern: string): RegExp =>
  new RegExp(pattern.replaceAll(String.raw`\x{`, String.raw`\u{`), "gu");

const invisible = expressionOf(invisibleCharacters);
const spaces = expressionOf(`${whiteSpace}+`);

/** Returns a text in NFC, without invisible characters, its white space folded to single spaces and trimmed. */
export const normalizeText = (text: string): string =>
  text.replaceAll(invisible, "").replaceAll(spaces, " ").trim().normalize("NFC");

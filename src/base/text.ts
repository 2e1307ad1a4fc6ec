/** The form in which texts are stored and compared. */

/** Format characters, variation selectors, blank fillers, and control characters that are no white space. */
const invisible =
  /(?!\p{White_Space})(?:[\p{Cf}\p{Cc}\p{Variation_Selector}\u{115F}\u{1160}\u{3164}\u{FFA0}]|\u{34F})/gu;

/** Returns a text in NFC, without invisible characters, its white space folded to single spaces and trimmed. */
export const normalizeText = (text: string): string =>
  text
    .replaceAll(invisible, "")
    .replaceAll(/\p{White_Space}+/gu, " ")
    .trim()
    .normalize("NFC");

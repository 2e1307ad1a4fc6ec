/** When two spellings are the same word: one rule for what is stored and for what is asked. */
import { type Sql, sql } from "./sql.ts";

/** Text matches without regard to case. */
export const caseFold = (text: Sql): Sql => sql`lower(${text})`;

/** Makes and models match by letters and digits alone, so that `F-150`, `f150` and the slug `f-150` are one. */
export const matchKey = (text: Sql): Sql =>
  sql`regexp_replace(strip_accents(lower(${text})), '[^\\p{L}\\p{N}]', '', 'g')`;

/** The same outside of the engine; of a word without letters and digits it is the word. */
export function matchKeyOf(text: string): string {
  const key = text.normalize("NFD").replaceAll(/[^\p{L}\p{N}]/gu, "");
  return (key === "" ? text : key).toLowerCase();
}

/** The words of a text, as a list: letters and digits without case, accents or apostrophes. */
export const wordsIn = (text: Sql): Sql =>
  sql`regexp_extract_all(regexp_replace(strip_accents(lower(${text})), '[''’]', '', 'g'), '[\\p{L}\\p{N}]+')`;

/** The words of a text outside of the engine. */
export const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(/\p{M}|['’]/gu, "")
    .match(/[\p{L}\p{N}]+/gu) ?? [];

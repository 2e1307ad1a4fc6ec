/** The suggestion rule of "Did you mean ...?". */
import { distance } from "fastest-levenshtein";

/**
 * Returns the known word nearest to a word, the first in order if several are, if at most a third of its letters differ; otherwise
 * undefined. Ignores case.
 */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  const sought = word.toLowerCase();
  let nearest: string | undefined;
  let min: number = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const max = Math.min(min, Math.floor(candidate.length / 3));
    if (Math.abs(candidate.length - sought.length) > max) continue;
    const differing = distance(sought, candidate.toLowerCase());
    if (differing > max || (differing === min && nearest !== undefined && nearest <= candidate)) continue;
    nearest = candidate;
    min = differing;
  }
  return nearest;
}

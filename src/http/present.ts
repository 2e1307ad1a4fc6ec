/** Parts that answers have in common. */

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Schema `Pagination` (section 2.9 of the specification): where a page lies in the total, and where the next one begins. */
export function pagination({ limit, offset }: Page, total: number): object {
  const next = offset + limit;
  return { limit, offset, total, next_offset: next < total ? next : null };
}

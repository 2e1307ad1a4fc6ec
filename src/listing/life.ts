/** The numbers in the rules of a listing's life (section 3 of the specification): ingest applies them, verify checks what it kept. */

export const life = {
  /** Absent for so long before it can count as sold. */
  soldAfterDays: 3,
  /** The owner must have delivered so many feeds without it. */
  soldAfterFeeds: 3,
  /** It must have been seen on so many days: a number that was mistyped once was never sold. */
  soldSeenDays: 2,
  /** Missing for so long without passing as sold, it ends. */
  endedAfterDays: 90,
  /** A dealer that delivers nothing for so long loses its claims. */
  silentDays: 7,
  /** How many accepted feeds tell a dealer's usual size. */
  usualFeeds: 7,
  /** A feed below this share of the usual size is a collapse. */
  collapsedShare: 0.5,
  /** So many collapsed feeds in a row are the dealer's new size. */
  collapsedFeeds: 7,
} as const;

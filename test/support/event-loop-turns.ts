/** Turns of the event loop, for tests of what begins or goes on in which. */

/** Adds `turn` to the events in each turn of the event loop until the work has ended. Returns the events as a text. */
export async function noteTurns(events: string[], work: readonly Promise<void>[]): Promise<string> {
  let isOver = false;
  const note = (): void => {
    events.push("turn");
    if (!isOver) setImmediate(note);
  };
  setImmediate(note);
  await Promise.all(work);
  isOver = true;
  return events.join(" ");
}

/** What browser modules do with the document: handle events of its elements, also of later ones, set attributes, wait until typing pauses. */

/** Handles an event of the elements that match a selector. */
export function on<Name extends keyof DocumentEventMap>(
  name: Name,
  selector: string,
  handle: (element: HTMLElement, event: DocumentEventMap[Name]) => void,
): void {
  document.addEventListener(name, (event) => {
    const element = event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null;
    if (element !== null) handle(element, event);
  });
}

export function setAttributes(element: Element, values: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, String(value));
}

/** How long typing pauses before it has an effect. */
const pauseMs = 200;

/** Returns a function that does the work of its last call after typing has paused, with a signal that the next call aborts. */
export function afterPause(): (work: (signal: AbortSignal) => void) => void {
  let pause: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | undefined;
  return (work) => {
    clearTimeout(pause);
    current?.abort();
    current = new AbortController();
    const { signal } = current;
    pause = setTimeout(() => work(signal), pauseMs);
  };
}

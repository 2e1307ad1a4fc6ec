/** Suggestions of a field while it is typed in: the options of its list, from the address in `data-suggest`. */
import { afterPause } from "./elements.ts";

const typed = afterPause();

/** Handles all fields with suggestions, also later ones. */
export function enhanceSuggestions(): void {
  document.addEventListener("input", (event) => {
    const { target: field } = event;
    if (!(field instanceof HTMLInputElement) || field.dataset.suggest === undefined) return;
    // A chosen option replaces the text: it is not completed again.
    const isChosen = event instanceof InputEvent && event.inputType === "insertReplacementText";
    if (!isChosen) typed((signal) => suggest(field, signal));
  });
}

async function suggest(field: HTMLInputElement, signal: AbortSignal): Promise<void> {
  const address = `${field.dataset.suggest}?${new URLSearchParams({ q: field.value })}`;
  try {
    const response = await fetch(address, { signal, headers: { Accept: "application/json" } });
    const texts: readonly string[] = response.ok ? await response.json() : [];
    field.list?.replaceChildren(...texts.map((text) => new Option(text)));
  } catch {
    // The next letter asks again.
  }
}

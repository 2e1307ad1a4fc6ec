/** The search of a facet's values: a field with the page of all values in `data-values` replaces those shown, in the element of `data-into`. */
import { afterPause } from "./elements.ts";

const typed = afterPause();

/** Handles all fields that search values, also later ones. Their text is no filter, so a change of it is no change of the view. */
export function enhanceValues(): void {
  document.addEventListener("input", ({ target }) => {
    if (target instanceof HTMLInputElement && target.dataset.values !== undefined)
      typed((signal) => searchValues(target, signal));
  });
}

async function searchValues(field: HTMLInputElement, signal: AbortSignal): Promise<void> {
  const shown = document.getElementById(field.dataset.into ?? "");
  const address = new URL(field.dataset.values ?? "", location.href);
  if (field.value !== "") address.searchParams.set("q", field.value);
  try {
    const response = await fetch(address, { signal, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const found = page.querySelector("#values");
    if (shown === null || found === null) return;
    const chosen = [...shown.querySelectorAll(".value:has(:checked)")];
    const isChosen = (value: Element): boolean => value.querySelector(":checked") !== null;
    shown.replaceChildren(...chosen, ...[...found.children].filter((value) => !isChosen(value)));
  } catch {
    // Another letter was typed, or the service cannot be reached: the values stay.
  }
}

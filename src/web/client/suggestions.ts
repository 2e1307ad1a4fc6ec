/** Suggestions of a field while it is typed in: an ARIA combobox with a list box, in fields with the address of suggestions in `data-suggest`. */
import { afterPause, on, setAttributes } from "./elements.ts";

interface Suggestion {
  readonly text: string;
  /** What stands beside the text: a number of listings, or a word. */
  readonly count?: number;
  readonly note?: string;
}

const typed = afterPause();

/** Handles all fields with suggestions, also later ones. */
export function enhanceSuggestions(): void {
  document.addEventListener("input", ({ target }) => {
    const field = fieldOf(target);
    if (field === undefined) return;
    if (field.value.trim() === "") close(field);
    else typed((signal) => suggest(field, signal));
  });
  document.addEventListener("keydown", (event) => {
    const field = fieldOf(event.target);
    if (field !== undefined && handleKey(field, event.key)) event.preventDefault();
  });
  document.addEventListener("focusout", ({ target }) => {
    const field = fieldOf(target);
    if (field !== undefined) close(field);
  });
  // A click would move the focus out of the field, and close the list, first.
  on("pointerdown", '[role="option"]', (option, event) => {
    const field = option.closest("form")?.querySelector<HTMLInputElement>("[data-suggest]");
    if (field == null) return;
    event.preventDefault();
    choose(field, option);
  });
}

const fieldOf = (target: EventTarget | null): HTMLInputElement | undefined =>
  target instanceof HTMLInputElement && target.dataset.suggest !== undefined ? target : undefined;

const listOf = (field: HTMLInputElement): Element | null | undefined => field.form?.querySelector('[role="listbox"]');

async function suggest(field: HTMLInputElement, signal: AbortSignal): Promise<void> {
  const address = `${field.dataset.suggest}?${new URLSearchParams({ q: field.value })}`;
  try {
    const response = await fetch(address, { signal, headers: { Accept: "application/json" } });
    const found: readonly Suggestion[] = response.ok ? await response.json() : [];
    if (document.activeElement === field) open(field, found);
  } catch {
    close(field);
  }
}

function open(field: HTMLInputElement, found: readonly Suggestion[]): void {
  const list = listOf(field);
  if (found.length === 0 || list == null) {
    close(field);
    return;
  }
  list.replaceChildren(...found.map(optionOf));
  list.toggleAttribute("hidden", false);
  setAttributes(field, {
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": list.id,
    "aria-expanded": "true",
  });
  field.removeAttribute("aria-activedescendant");
}

function optionOf({ text, count, note }: Suggestion, index: number): HTMLElement {
  const option = document.createElement("div");
  const beside = document.createElement("span");
  setAttributes(option, { role: "option", id: `suggestion-${index}`, "aria-selected": "false", "data-text": text });
  beside.textContent = count?.toLocaleString("en-US") ?? note ?? "";
  option.append(`${text} `, beside);
  return option;
}

function close(field: HTMLInputElement): void {
  typed();
  listOf(field)?.toggleAttribute("hidden", true);
  field.removeAttribute("aria-activedescendant");
  if (field.hasAttribute("aria-expanded")) field.setAttribute("aria-expanded", "false");
}

/** Handles a key of the list. Returns false for other keys, which the browser handles. */
function handleKey(field: HTMLInputElement, key: string): boolean {
  const list = listOf(field);
  if (list == null || list.hasAttribute("hidden")) return false;
  const options = [...list.children];
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  const active = options[at];
  if (key === "Enter" && active !== undefined) choose(field, active);
  else if (key === "Escape") close(field);
  else if (key === "ArrowDown") activate(field, options, (at + 1) % options.length);
  else if (key === "ArrowUp") activate(field, options, at <= 0 ? options.length - 1 : at - 1);
  else return false;
  return true;
}

function activate(field: HTMLInputElement, options: readonly Element[], at: number): void {
  for (const [index, option] of options.entries()) option.setAttribute("aria-selected", String(index === at));
  const active = options[at];
  active?.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", active?.id ?? "");
}

/** Completes the text: the question goes on, or is sent by the next Enter. */
function choose(field: HTMLInputElement, option: Element): void {
  field.value = `${option.getAttribute("data-text")} `;
  close(field);
}

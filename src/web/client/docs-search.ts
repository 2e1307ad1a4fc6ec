/** Results while a question is typed into the search of the docs: an ARIA combobox over the index, which is loaded when the field is used. */
import { matches, type SearchEntry } from "./docs-match.ts";

const resultsMax = 8;

/** Adds results to the field of the header. */
export function enhanceDocsSearch(): void {
  const field = document.querySelector<HTMLInputElement>("#docs-search");
  if (field === null) return;
  const list = document.createElement("ul");
  list.id = "docs-found";
  list.className = "combo";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Results");
  field.after(list);
  for (const [name, value] of Object.entries({
    role: "combobox",
    "aria-expanded": "false",
    "aria-autocomplete": "list",
  }))
    field.setAttribute(name, value);
  field.setAttribute("aria-controls", list.id);
  let index: Promise<readonly SearchEntry[]> | undefined;
  const load = () => (index ??= fetch("/docs/index.json").then((response) => response.json()));
  field.addEventListener("focus", () => void load());
  field.addEventListener("input", async () => {
    const question = field.value;
    const found = matches(await load(), question).slice(0, resultsMax);
    if (field.value === question) show(field, list, found);
  });
  field.addEventListener("keydown", (event) => {
    if (handleKey(field, list, event.key)) event.preventDefault();
  });
  field.addEventListener("blur", () => show(field, list, []));
  // A click would move the focus out of the field, and close the list, first.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", ({ target }) => open(target instanceof Element ? target.closest("li") : null));
  focusBySlash(field);
}

function show(field: HTMLInputElement, list: HTMLElement, found: readonly SearchEntry[]): void {
  list.replaceChildren(
    ...found.map(({ kind, title, path }, position) => {
      const option = document.createElement("li");
      option.id = `docs-found-${position}`;
      option.dataset.path = path;
      option.setAttribute("role", "option");
      const note = document.createElement("span");
      note.textContent = kind;
      option.append(title, note);
      return option;
    }),
  );
  list.hidden = found.length === 0;
  field.setAttribute("aria-expanded", String(!list.hidden));
  field.removeAttribute("aria-activedescendant");
}

/** Moves through the results, opens one, or closes them; returns true if the key did. Enter without a result sends the form. */
function handleKey(field: HTMLInputElement, list: HTMLElement, key: string): boolean {
  const options = [...list.querySelectorAll("li")];
  const current = options.findIndex((option) => option.ariaSelected === "true");
  if (list.hidden) return false;
  if (key === "Escape") show(field, list, []);
  else if (key === "Enter" && current >= 0) open(options[current] ?? null);
  else if (key === "ArrowDown" || key === "ArrowUp") {
    const next = (current + (key === "ArrowDown" ? 1 : options.length - (current < 0 ? 0 : 1))) % options.length;
    for (const [position, option] of options.entries()) option.ariaSelected = String(position === next);
    field.setAttribute("aria-activedescendant", `docs-found-${next}`);
  } else return false;
  return true;
}

function open(option: Element | null): void {
  if (option instanceof HTMLElement && option.dataset.path !== undefined) location.assign(option.dataset.path);
}

function focusBySlash(field: HTMLInputElement): void {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
}

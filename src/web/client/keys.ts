/** Keys of one letter: each clicks or focuses what the page has for it. They never act in a field, and can be turned off. */
import { on, openDialog } from "./elements.ts";

interface Key {
  readonly words: string;
  readonly act: () => void;
}

const offName = "carquet-keys-off";

const click = (selector: string) => (): void => document.querySelector<HTMLElement>(selector)?.click();

/** Opens the car before or after that of the page; in a list of cars, focuses the link of the one before or after the focused one. */
function moveBy(step: number): void {
  const beside = document.querySelector<HTMLElement>(`.crumbs [rel="${step > 0 ? "next" : "prev"}"]`);
  if (beside !== null) {
    beside.click();
    return;
  }
  const cars: readonly (Element | null)[] = [
    ...document.querySelectorAll(".car h2 a, .scroll tbody tr td:first-child a"),
  ];
  const at = cars.indexOf(document.activeElement);
  const next = cars[at === -1 ? (step > 0 ? 0 : -1) : at + step];
  if (!(next instanceof HTMLElement)) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

/** Shows the filters: as a sheet on phones, else the focus goes to the first one. */
function openFilters(): void {
  const sheet = document.querySelector<HTMLElement>(".phonebar [data-filters]");
  if (sheet?.offsetParent !== null) sheet?.click();
  document.querySelector<HTMLElement>("#view input:not([type=hidden]), #view summary")?.focus();
}

/** Opens the layout after the shown one. */
function nextLayout(): void {
  const layouts = [...document.querySelectorAll<HTMLAnchorElement>('[aria-label="Layout"] a')];
  const at = layouts.findIndex((link) => link.hasAttribute("aria-current"));
  layouts[(at + 1) % layouts.length]?.click();
}

const keys: Readonly<Record<string, Key>> = {
  "/": { words: "find", act: () => document.querySelector<HTMLElement>("#find")?.focus() },
  f: { words: "filters", act: openFilters },
  j: { words: "next car", act: () => moveBy(1) },
  k: { words: "previous car", act: () => moveBy(-1) },
  s: { words: "shortlist the car", act: keepFocused },
  c: { words: "compare", act: click("[data-compare], [data-shortlist]") },
  v: { words: "next layout", act: nextLayout },
  e: { words: "export", act: click("[data-export]") },
  "[": { words: "day before", act: click('[data-key="["]') },
  "]": { words: "day after", act: click('[data-key="]"]') },
  "?": { words: "these keys", act: () => showKeys() },
};

/** Keeps the car whose link has the focus, or that of the page. */
function keepFocused(): void {
  const car = document.activeElement?.closest(".car, [data-car]") ?? document;
  car.querySelector<HTMLElement>("[data-keep]")?.click();
}

/** Handles the keys of all pages. */
export function enhanceKeys(): void {
  document.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || isField(target)) return;
    const known = keys[key];
    if (known === undefined || (isOff() && key !== "?")) return;
    event.preventDefault();
    known.act();
  });
  on("click", "[data-keys]", showKeys);
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type="checkbox"], [type="radio"]), select, textarea'));

/** Returns whether the reader has turned the keys off. Without storage they are on. */
function isOff(): boolean {
  try {
    return localStorage.getItem(offName) !== null;
  } catch {
    return false;
  }
}

/** Shows the keys, and the choice to turn them off. */
function showKeys(): void {
  const list = document.createElement("dl");
  list.className = "kv left";
  for (const [key, { words }] of Object.entries(keys)) {
    const name = document.createElement("dt");
    const meaning = document.createElement("dd");
    const sign = document.createElement("kbd");
    sign.textContent = key;
    name.append(sign);
    meaning.textContent = words;
    list.append(name, meaning);
  }
  const choice = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = !isOff();
  box.addEventListener("change", () => {
    if (box.checked) localStorage.removeItem(offName);
    else localStorage.setItem(offName, "1");
  });
  choice.className = "check";
  choice.append(box, "Keys of one letter act");
  openDialog(list, choice).setAttribute("aria-label", "Keys");
}

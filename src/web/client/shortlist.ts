/** The shortlist: the ids of cars that this browser keeps, the newest first, shown by hearts and by the bar. Tabs share it. */
import { on } from "./elements.ts";

const storageName = "carquet-shortlist";

/** The most cars that are shown beside each other. */
const keptMax = 12;

/** Handles the hearts of cars, also later ones. */
export function enhanceShortlist(): void {
  on("click", "[data-keep]", (button) => toggle(button, button.dataset.keep ?? ""));
  on("click", "[data-drop]", (link) => store(readKept().filter((id) => id !== link.dataset.drop)));
  addEventListener("pageshow", refresh);
  addEventListener("storage", ({ key }) => {
    if (key === storageName || key === null) refresh();
  });
  refresh();
}

/** Keeps the car of a heart; drops it if it is kept. A heart that cannot keep its car says why. */
function toggle(button: HTMLElement, id: string): void {
  const kept = readKept();
  const others = kept.filter((one) => one !== id);
  if (others.length === keptMax) button.title = `This browser keeps ${keptMax} cars: drop one first.`;
  else if (!store(others.length < kept.length ? others : [id, ...others]))
    button.title = "This browser keeps no cars: its storage is full or turned off.";
}

/** Shows the kept cars and their number wherever the page does. */
function refresh(): void {
  const kept = readKept();
  for (const button of document.querySelectorAll<HTMLElement>("[data-keep]"))
    button.setAttribute("aria-pressed", String(kept.includes(button.dataset.keep ?? "")));
  for (const link of document.querySelectorAll("[data-kept]")) {
    link.setAttribute("href", `/shop?ids=${kept.join()}&view=table`);
    link.toggleAttribute("hidden", kept.length === 0);
  }
  for (const element of document.querySelectorAll("[data-kept-count]")) element.textContent = String(kept.length);
}

/** Returns the kept ids; none if the browser stores nothing, or nothing of this form. */
function readKept(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored.filter((id): id is string => typeof id === "string" && /^[0-9a-f]{32}$/.test(id)).slice(0, keptMax);
  } catch {
    return [];
  }
}

/** Returns false if the browser stores nothing. */
function store(kept: readonly string[]): boolean {
  try {
    localStorage.setItem(storageName, JSON.stringify(kept));
  } catch {
    return false;
  }
  refresh();
  return true;
}

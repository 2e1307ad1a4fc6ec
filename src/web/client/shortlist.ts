/** The shortlist: cars that this browser keeps, the newest first, shown by the tray, by buttons and by the page that compares. Tabs share it. */
import { on } from "./elements.ts";

interface KeptCar {
  readonly id: string;
  readonly name: string;
  readonly price: string;
  /** The name of its drawing, and the class of its paint. */
  readonly body: string;
  readonly color: string;
}

const storageName = "carquet-shortlist";
const keptMax = 24;
const comparedMax = 6;
let hasRefused = false;

/** Handles the buttons of cars and of the tray, also later ones. */
export function enhanceShortlist(): void {
  on("click", "[data-keep]", toggleKept);
  on("click", "[data-keep-all]", keepAll);
  on("change", 'input[name="ids"]', limitChoices);
  document.addEventListener("carquet:view", refreshShortlist);
  addEventListener("pageshow", refreshShortlist);
  addEventListener("storage", ({ key }) => {
    if (key === storageName || key === null) refreshShortlist();
  });
  refreshShortlist();
}

/** Keeps the car of a button; removes it if it is kept. */
function toggleKept(button: HTMLElement): void {
  const car = carOf(button);
  const kept = readKept();
  const others = kept.filter(({ id }) => id !== car.id);
  store(others.length < kept.length ? others : [car, ...others]);
  // The tray is drawn again.
  if (!button.isConnected) document.querySelector<HTMLElement>("#shortlist [data-shortlist]")?.focus();
}

/** Shows the kept cars and their number wherever the page does. */
function refreshShortlist(): void {
  const kept = readKept();
  const ids = new Set(kept.map(({ id }) => id));
  for (const list of document.querySelectorAll<HTMLElement>("[data-kept-list]")) fill(list, kept);
  for (const button of pageButtons()) {
    const isKept = ids.has(button.dataset.keep ?? "");
    button.setAttribute("aria-pressed", String(isKept));
    button.classList.toggle("on", isKept);
  }
  for (const element of document.querySelectorAll("[data-shortlist-count]")) element.textContent = String(kept.length);
  for (const link of document.querySelectorAll("[data-shortlist]")) link.setAttribute("href", comparisonPath(kept));
  const path = `/compare?ids=${[...ids].join()}`;
  document.querySelector("#shortlist [data-copy-link]")?.setAttribute("data-copy-link", path);
  const keepAllButton = document.querySelector("[data-keep-all]");
  keepAllButton?.toggleAttribute(
    "hidden",
    pageButtons().every(({ dataset }) => ids.has(dataset.keep ?? "")),
  );
  limitChoices();
}

/** The buttons of the cars that the page shows. */
const pageButtons = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>("main [data-keep]")];

/** Up to six cars are compared at once; of more, the page lets the reader choose. */
const comparisonPath = (kept: readonly KeptCar[]): string =>
  kept.length === 0 || kept.length > comparedMax ? "/compare" : `/compare?ids=${kept.map(({ id }) => id).join()}`;

const carOf = ({ dataset }: HTMLElement): KeptCar => ({
  id: dataset.keep ?? "",
  name: dataset.keepName ?? "",
  price: dataset.keepPrice ?? "",
  body: dataset.keepBody ?? "",
  color: dataset.keepColor ?? "",
});

function keepAll(): void {
  const cars = pageButtons().map(carOf);
  const others = readKept().filter(({ id }) => !cars.some((car) => car.id === id));
  store([...cars, ...others]);
}

/** Returns the kept cars; none if the browser stores nothing, or nothing of this form. */
function readKept(): readonly KeptCar[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKeptCar).slice(0, keptMax) : [];
  } catch {
    return [];
  }
}

function isKeptCar(value: unknown): value is KeptCar {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, price, body, color }: Partial<Record<keyof KeptCar, unknown>> = value;
  const forms = [/^[0-9a-f]{32}$/, /^/, /^/, /^[a-z]*$/, /^[a-z-]*$/];
  return [id, name, price, body, color].every((item, at) => typeof item === "string" && forms[at]?.test(item));
}

function store(kept: readonly KeptCar[]): void {
  let refusal = kept.length > keptMax ? `The shortlist keeps ${keptMax} cars: remove one first.` : "";
  try {
    if (refusal === "") localStorage.setItem(storageName, JSON.stringify(kept));
  } catch {
    refusal = hasRefused ? "" : "This browser keeps no shortlist: its storage is full or turned off.";
    hasRefused = true;
  }
  refreshShortlist();
  const tray = document.querySelector("#shortlist");
  if (refusal !== "") tray?.removeAttribute("hidden");
  tray?.querySelector('[role="status"]')?.replaceChildren(refusal);
}

/** Draws the kept cars in a list by its template, except those that another list of the page has. */
function fill(list: HTMLElement, kept: readonly KeptCar[]): void {
  const template = list.querySelector("template");
  if (template === null) return;
  const shown = kept.filter(({ id }) => document.querySelector(`ul:not([data-kept-list]) [value="${id}"]`) === null);
  list.replaceChildren(template, ...shown.map((car) => itemOf(car, template)));
  for (const box of [...list.querySelectorAll("input")].slice(0, comparedMax))
    box.checked = list.closest("[data-kept-box]") !== null;
  list.closest("[data-kept-box]")?.toggleAttribute("hidden", shown.length === 0);
}

function itemOf({ id, name, price, body, color }: KeptCar, { content }: HTMLTemplateElement): DocumentFragment {
  const item = document.importNode(content, true);
  const drawing = item.querySelector("use");
  drawing?.setAttribute("href", `${drawing.getAttribute("href")?.split("#")[0]}#${body}`);
  if (color !== "") drawing?.parentElement?.classList.add(color);
  for (const [key, text] of Object.entries({ name, price }))
    item.querySelector(`[data-shows="${key}"]`)?.replaceChildren(text);
  item.querySelector("a")?.setAttribute("href", `/listings/${id}`);
  item.querySelector("input")?.setAttribute("value", id);
  const button = item.querySelector("button");
  button?.setAttribute("data-keep", id);
  button?.setAttribute("aria-label", `Remove ${name} from the shortlist`);
  return item;
}

/** Leaves no choice beyond the cars that are compared at once. */
function limitChoices(): void {
  const boxes = [...document.querySelectorAll<HTMLInputElement>('input[type="checkbox"][name="ids"]')];
  const isFull = boxes.filter(({ checked }) => checked).length >= comparedMax;
  for (const box of boxes) box.disabled = isFull && !box.checked;
}

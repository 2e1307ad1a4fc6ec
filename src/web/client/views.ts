/**
 * Views without page loads: a changed filter or a followed link fetches the next view's document and morphs the page into it, so that focus,
 * scroll and open sections stay. The URL is that of the view. Going back shows what the browser has cached.
 */
import { Idiomorph } from "idiomorph";
import { isPlainClick, on } from "./elements.ts";

let shownUrl = "";
let loading: AbortController | undefined;

/** Handles forms, links and the history of the shop. */
export function enhanceViews(): void {
  if (document.querySelector("[data-view]") === null) return;
  shownUrl = urlWithoutHash();
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
    if (target.form?.matches("[data-view-form]")) open(urlOf(target.form));
  });
  document.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement) || !event.target.matches("[data-view-form]")) return;
    event.preventDefault();
    open(urlOf(event.target), true);
  });
  on("click", "a", (link, event) => {
    if (!isPlainClick(event)) return;
    // Links of charts are elements of SVG, whose `href` is an object.
    const url = new URL(link.getAttribute("href") ?? "", location.href);
    if (link.closest("[data-view]") === null || !isView(url)) return;
    event.preventDefault();
    open(url.href, link.closest(".paging") !== null);
  });
  addEventListener("popstate", () => {
    // Links to fragments of the page are not views.
    if (urlWithoutHash() !== shownUrl) show(urlWithoutHash(), "force-cache");
  });
}

const urlWithoutHash = (): string => location.href.replace(/#.*$/, "");

const isView = ({ origin, pathname, hash }: URL): boolean =>
  origin === location.origin && pathname === "/shop" && hash === "";

/** Returns the URL of a form's view: repeated fields are lists, empty ones are left out. */
function urlOf(form: HTMLFormElement): string {
  const lists = new Map<string, string[]>();
  for (const [name, value] of new FormData(form))
    if (typeof value === "string" && value !== "" && !isDefault(form, name, value))
      lists.set(name, [...(lists.get(name) ?? []), value]);
  const query = new URLSearchParams([...lists].map(([name, values]) => [name, values.join()]));
  const text = query.toString().replaceAll("%2C", ",");
  return new URL(text === "" ? "/shop" : `/shop?${text}`, location.href).href;
}

/** Whether a value is the default of its field, which URLs omit. */
function isDefault(form: HTMLFormElement, name: string, value: string): boolean {
  const field = form.elements.namedItem(name);
  return field instanceof HTMLElement && field.dataset.default === value;
}

/** Opens a view; leads to its cars if asked, which closes the filters of phones. */
async function open(url: string, isAtCars = false): Promise<void> {
  if ((await show(url)) && isAtCars) location.replace("#cars");
}

/**
 * Shows a view, or another page such as a refusal, at the address to which it leads; leaves the page for what is no document. Returns false if
 * another view was opened meanwhile.
 */
async function show(url: string, cache: RequestCache = "default"): Promise<boolean> {
  loading?.abort();
  const current = new AbortController();
  loading = current;
  document.querySelector("#results")?.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(url, { signal: current.signal, cache, headers: { Accept: "text/html" } });
    if (!response.headers.get("Content-Type")?.startsWith("text/html")) throw new TypeError("No document.");
    const html = await response.text();
    if (response.url !== urlWithoutHash()) history.pushState(null, "", response.url);
    shownUrl = response.url;
    replace(new DOMParser().parseFromString(html, "text/html"));
    return true;
  } catch {
    if (!current.signal.aborted) location.assign(url);
    return false;
  }
}

/** Shows a document: the differences of a view to the shown one, or all of another page. */
function replace(next: Document): void {
  document.title = next.title;
  if (next.querySelector("[data-view]") === null) {
    document.body.replaceWith(document.adoptNode(next.body));
    document.querySelector<HTMLElement>("#main")?.focus();
    return;
  }
  Idiomorph.morph(document.body, next.body, { callbacks: { beforeAttributeUpdated } });
  const region = document.querySelector("#announcement");
  if (region !== null) region.textContent = document.querySelector(".verdict h1")?.textContent ?? "";
  document.dispatchEvent(new Event("carquet:view"));
}

/** Details stay open or closed as the reader left them. */
const beforeAttributeUpdated = (name: string, element: Element): boolean =>
  name !== "open" || !(element instanceof HTMLDetailsElement) || element.id === "";

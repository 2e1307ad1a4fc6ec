/** Exports as a dialog: the pages of an export, loaded into it. */
import { isPlainClick, on, openDialog } from "./elements.ts";

/** How often the progress of an export is loaded. */
const pollMs = 1_000;

/** Handles all links to exports, also later ones. */
export function enhanceExports(): void {
  on("click", "a[data-export]", (link, event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    open(link.getAttribute("href") ?? "");
  });
}

/** Shows the page of an export in a dialog, and what its forms lead to. */
async function open(url: string): Promise<void> {
  const dialog = openDialog();
  dialog.addEventListener("click", (event) => {
    const isClose = event.target instanceof Element && event.target.closest("[data-close]") !== null;
    if (!isClose && event.target !== dialog) return;
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement)) return;
    event.preventDefault();
    const fields = [...new FormData(event.target)].map(([name, value]) => [name, String(value)]);
    show(dialog, event.target.action, { method: "POST", body: new URLSearchParams(fields) });
  });
  await show(dialog, url);
}

/** Loads a page into a dialog, and again while its export is written. Leaves the page of the dialog for one that cannot be loaded. */
async function show(dialog: HTMLDialogElement, url: string, request: RequestInit = {}): Promise<void> {
  dialog.setAttribute("aria-busy", "true");
  const response = await fetch(url, { ...request, headers: { Accept: "text/html" } }).catch(() => undefined);
  if (response === undefined) return location.assign(url);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const panel = page.querySelector("[data-export-panel]") ?? page.querySelector("main");
  if (!dialog.isConnected || panel === null) return;
  const isClosing = dialog.querySelector("[data-close]:focus") !== null;
  dialog.setAttribute("aria-label", panel.querySelector("h1")?.textContent ?? page.title);
  dialog.replaceChildren(document.adoptNode(panel));
  dialog.removeAttribute("aria-busy");
  dialog.querySelector<HTMLElement>(isClosing ? "[data-close]" : "footer :is(a, button), [data-close]")?.focus();
  if (dialog.querySelector("[data-poll]") !== null) setTimeout(() => show(dialog, response.url), pollMs);
}

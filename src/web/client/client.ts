/** The entry of the browser modules, and what they do for every page. Every page works without them. */
import { enhanceDrawings } from "./drawings.ts";
import { on } from "./elements.ts";
import { enhanceFilters } from "./filters.ts";
import { enhanceShortlist } from "./shortlist.ts";
import { enhanceSuggestions } from "./suggestions.ts";

/** Replaces the address of a page that is shown instead of another one by that which the document names: the one to share and to go back to. */
function correctAddress(): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="canonical"]');
  if (link !== null) history.replaceState(null, "", link.href);
}

const shownMs = 1500;

/** Handles all copy buttons, also later ones: each copies the code beside it, or the link that it names. */
function enhanceCopyButtons(): void {
  on("click", "[data-copy], [data-copy-link]", async (button) => {
    const link = button.dataset.copyLink;
    const texts = button.closest(".codebox, figure, p, div")?.querySelectorAll("pre, output") ?? [];
    const code = [...texts].find((text) => text.checkVisibility());
    if (link !== undefined) await copyLink(new URL(link, location.href).href);
    else if (code !== undefined) await copy(code);
    if ((link ?? code) === undefined || button.hasAttribute("data-copied")) return;
    const content = [...button.childNodes];
    button.replaceChildren("Copied");
    button.setAttribute("data-copied", "");
    setTimeout(() => {
      button.replaceChildren(...content);
      button.removeAttribute("data-copied");
    }, shownMs);
  });
}

/** Copies a text; selects it where the clipboard is not available, as over plain HTTP. */
async function copy(code: Element): Promise<void> {
  if (navigator.clipboard === undefined) document.getSelection()?.selectAllChildren(code);
  else await navigator.clipboard.writeText(code.textContent ?? "");
}

/** Copies a link; shows it to copy where the clipboard is not available. */
async function copyLink(link: string): Promise<void> {
  if (navigator.clipboard === undefined) prompt("Copy this link:", link);
  else await navigator.clipboard.writeText(link);
}

/** Hides photos that do not load, so that the drawn car below them is seen. */
function hideBrokenPhotos(): void {
  const hide = (target: EventTarget | null): void => {
    if (target instanceof HTMLImageElement && target.matches(".photo")) target.hidden = true;
  };
  document.addEventListener("error", ({ target }) => hide(target), true);
  for (const photo of document.querySelectorAll<HTMLImageElement>("img.photo"))
    if (photo.complete && photo.naturalWidth === 0) hide(photo);
}

// Shows the controls that need scripts, and hides those that scripts replace.
document.documentElement.classList.add("js");
correctAddress();
enhanceCopyButtons();
hideBrokenPhotos();
enhanceDrawings();
enhanceShortlist();
enhanceSuggestions();
enhanceFilters();
// Narrow windows may cut a row of tabs before the current one.
const tab = document.querySelector<HTMLElement>(".chips > [aria-current]");
tab?.parentElement?.scrollTo({ left: tab.offsetLeft - 80 });

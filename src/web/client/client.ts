/** The entry of the browser modules, and what they do for every page. Every page works without them. */
import { enhanceKeys } from "./keys.ts";
import { enhanceRanges } from "./ranges.ts";
import { enhanceSuggestions } from "./suggestions.ts";
import { enhanceValues } from "./values.ts";
import { enhanceViews } from "./views.ts";

/** Replaces the address of a page that is shown in place of another one by that which the document names: the one to share and to go back to. */
function correctAddress(): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="canonical"]');
  if (link !== null) history.replaceState(null, "", link.href);
}

const shownMs = 1500;

/** Handles all copy buttons, also later ones: each copies the code beside it. */
function enhanceCopyButtons(): void {
  document.addEventListener("click", async ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-copy]") : null;
    const code = button?.parentElement?.querySelector("pre, output");
    if (button === null || code === null || code === undefined) return;
    await copy(code);
    const { textContent: text } = button;
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = text;
    }, shownMs);
  });
}

/** Copies a text; selects it where the clipboard is not available, as over plain HTTP. */
async function copy(code: Element): Promise<void> {
  if (navigator.clipboard === undefined) document.getSelection()?.selectAllChildren(code);
  else await navigator.clipboard.writeText(code.textContent ?? "");
}

// Shows the controls that need scripts, and hides those that scripts replace.
document.documentElement.classList.add("js");
correctAddress();
enhanceCopyButtons();
enhanceRanges();
enhanceSuggestions();
enhanceViews();
enhanceValues();
enhanceKeys();

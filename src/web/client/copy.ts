/** Copy buttons: each copies the code beside it. */

const shownMs = 1500;

/** Handles all copy buttons, also later ones. */
export function enhanceCopyButtons(): void {
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

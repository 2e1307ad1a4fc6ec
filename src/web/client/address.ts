/** The address of a page that is shown in place of another one, such as what the box has found: the one to share and to go back to. */

/** Replaces the address of the page by the one that the document names, if any. */
export function correctAddress(): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="canonical"]');
  if (link !== null) history.replaceState(null, "", link.href);
}

/** Hides photos that do not load, so that the drawn car below them is seen. */
export function hideBrokenPhotos(): void {
  const hide = (target: EventTarget | null): void => {
    if (target instanceof HTMLImageElement && target.matches(".photo")) target.hidden = true;
  };
  document.addEventListener("error", ({ target }) => hide(target), true);
  for (const photo of document.querySelectorAll<HTMLImageElement>("img.photo"))
    if (photo.complete && photo.naturalWidth === 0) hide(photo);
}

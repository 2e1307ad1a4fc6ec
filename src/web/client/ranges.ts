/** Sliders over histograms: each thumb moves in steps of one bar and sets the adjacent bound. */

/** Handles all sliders, also later ones. The change of a slider is a change of the form that it belongs to. */
export function enhanceRanges(): void {
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== "range") return;
    const facet = target.closest<HTMLElement>("[data-edges]");
    if (facet !== null) moveBound(facet, target);
  });
}

function moveBound(facet: HTMLElement, slider: HTMLInputElement): void {
  const edges = (facet.dataset.edges ?? "").split(",").map(Number);
  const isMin = slider.dataset.bound === "min";
  const other = facet.querySelector<HTMLInputElement>(`[data-bound="${isMin ? "max" : "min"}"]`);
  const [minField, maxField] = facet.querySelectorAll<HTMLInputElement>('input[type="number"]');
  if (other === null || minField === undefined || maxField === undefined) return;
  const index = Number(slider.value);
  const limit = Number(other.value);
  // The thumbs stay at least one bar apart.
  const step = isMin ? Math.min(index, limit - 1) : Math.max(index, limit + 1);
  slider.value = String(step);
  if (isMin) minField.value = step <= 0 ? "" : String(edges[step]);
  else maxField.value = step >= edges.length - 1 ? "" : String(below(edges[step] ?? 1, Number(maxField.step || 1)));
  emphasize(facet, isMin ? step : limit, isMin ? limit : step);
}

/** Returns the greatest value below an edge, without floating-point noise. */
const below = (edge: number, step: number): number => Number((edge - step).toFixed(9));

/** Emphasizes the bars between two edges. */
function emphasize(facet: HTMLElement, from: number, until: number): void {
  for (const [index, bar] of facet.querySelectorAll(".histogram > g").entries())
    bar.setAttribute("class", index >= from && index < until ? "within" : "outside");
}

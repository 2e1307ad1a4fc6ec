/**
 * Renders charts of Observable Plot as SVG documents: a title, a legend, and panels in rows. A document has its own background and follows
 * the reader's color scheme, so it is readable on light and dark pages.
 */
import { type PlotOptions, plot } from "@observablehq/plot";
import { parseHTML } from "linkedom";

/** Colors of charts, by name: CSS variables with a value for each color scheme. */
export const chartColors = {
  ink: "var(--ink)",
  muted: "var(--muted)",
  grid: "var(--grid)",
  orange: "var(--orange)",
  blue: "var(--blue)",
  green: "var(--green)",
  amber: "var(--amber)",
  slate: "var(--slate)",
} as const;

const style = `<style>
svg { --paper: #ffffff; --ink: #1e293b; --muted: #526077; --grid: #e2e8f0; --orange: #c2410c; --blue: #1d4ed8; --green: #15803d; --amber: #a16207; --slate: #64748b; color: var(--muted) }
@media (prefers-color-scheme: dark) { svg { --paper: #0d1117; --ink: #e6edf3; --muted: #9aa7b8; --grid: #29313c; --orange: #fb923c; --blue: #79b0ff; --green: #4ade80; --amber: #e3b341; --slate: #94a3b8 } }
</style>`;

export interface LegendEntry {
  readonly name: string;
  readonly color: string;
}

export interface BarChart {
  readonly title: string;
  /** The measured quantity, with units. */
  readonly subtitle: string;
  readonly legend?: readonly LegendEntry[];
  readonly panels: readonly PlotOptions[];
  readonly panelWidth: number;
  readonly panelHeight: number;
  readonly panelsPerRow?: number;
}

const padding = 16;
const titleHeight = 48;
const legendHeight = 22;
const { document } = parseHTML("<html></html>");

/** Returns an SVG document. */
export function renderChart(chart: BarChart): string {
  const { title, subtitle, legend = [], panels, panelWidth, panelHeight, panelsPerRow = 1 } = chart;
  const top = padding + titleHeight + (legend.length === 0 ? 0 : legendHeight);
  const width = 2 * padding + panelWidth * Math.min(panelsPerRow, panels.length);
  const height = top + panelHeight * Math.ceil(panels.length / panelsPerRow) + padding / 2;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12">`,
    style,
    `<rect width="${width}" height="${height}" rx="6" fill="var(--paper)"/>`,
    `<text x="${padding}" y="${padding + 14}" font-size="16" font-weight="600" fill="var(--ink)">${escapeXml(title)}</text>`,
    `<text x="${padding}" y="${padding + 34}" fill="var(--muted)">${escapeXml(subtitle)}</text>`,
    renderLegend(legend),
    ...panels.map((options, index) => {
      const left = padding + (index % panelsPerRow) * panelWidth;
      const above = top + Math.floor(index / panelsPerRow) * panelHeight;
      return `<g transform="translate(${left} ${above})">${renderPanel(options, panelWidth, panelHeight)}</g>`;
    }),
    "</svg>\n",
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** Renders the entries in a row, each as wide as its name needs. */
function renderLegend(legend: readonly LegendEntry[]): string {
  let left = padding;
  const entries = legend.map(({ name, color }) => {
    const y = padding + titleHeight + 4;
    const entry = `<rect x="${left}" y="${y - 9}" width="10" height="10" rx="2" fill="${color}"/><text x="${left + 15}" y="${y}" fill="var(--muted)">${escapeXml(name)}</text>`;
    left += 34 + 7 * name.length;
    return entry;
  });
  return entries.join("");
}

/** Renders one plot as an element inside the document: without its own style sheet, coordinates with one decimal. */
function renderPanel(options: PlotOptions, width: number, height: number): string {
  const element = plot({ style: { fontSize: "12px" }, ...options, document, width, height, className: "panel" });
  return String(element)
    .replace(/<style>.*?<\/style>/s, "")
    .replaceAll(/<[^>]*>/g, (tag) =>
      tag.replaceAll(/-?\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1)))),
    );
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

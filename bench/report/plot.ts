/** Renders a grid of small line charts as SVG, with logarithmic axes: time by size. */

export interface PlotLine {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface PlotPanel {
  readonly title: string;
  readonly lines: readonly PlotLine[];
}

const [panelWidth, panelHeight, panelsPerRow] = [230, 190, 4];
const margin = { left: 46, right: 12, top: 30, bottom: 34 } as const;
const colors: Readonly<Record<string, string>> = {
  carquet: "#c2410c",
  duckdb: "#a16207",
  clickhouse: "#1d4ed8",
  sqlite: "#64748b",
  solr: "#15803d",
};
const legendHeight = 30;

/** Returns an SVG document. Each panel has its own axes; `unit` is the label of x. */
export function renderPlot(panels: readonly PlotPanel[], unit: string): string {
  const rows = Math.ceil(panels.length / panelsPerRow);
  const [width, height] = [panelWidth * Math.min(panelsPerRow, panels.length), panelHeight * rows + legendHeight];
  const names = [...new Set(panels.flatMap(({ lines }) => lines.map(({ name }) => name)))];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="10">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...names.map((name, index) => renderLegend(name, 16 + index * 90)),
    `<text x="${width - 12}" y="19" text-anchor="end" fill="#334155">median ms by ${unit}</text>`,
    ...panels.map((panel, index) => {
      const left = (index % panelsPerRow) * panelWidth;
      const top = legendHeight + Math.floor(index / panelsPerRow) * panelHeight;
      return `<g transform="translate(${left} ${top})">${renderPanel(panel)}</g>`;
    }),
    "</svg>\n",
  ].join("\n");
}

const colorOf = (name: string): string => colors[name] ?? "#000000";
const strokeWidthOf = (name: string): number => (name === "carquet" ? 2.5 : 1.5);

const renderLegend = (name: string, x: number): string =>
  `<line x1="${x}" y1="16" x2="${x + 16}" y2="16" stroke="${colorOf(name)}" stroke-width="${strokeWidthOf(name)}"/><text x="${x + 20}" y="19" fill="#334155">${name}</text>`;

interface Scale {
  /** Maps a value to a pixel. */
  readonly toPixel: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Creates a logarithmic scale from the range of some values to pixels. */
function logScale(values: readonly number[], fromPixel: number, toPixel: number): Scale {
  const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  const span = Math.max(0.3, high - low);
  const [start, end] = [low - 0.05 * span, low + 1.05 * span];
  const powers = Array.from({ length: 14 }, (_, index) => 10 ** (index - 3));
  const isInside = (tick: number): boolean => Math.log10(tick) >= start && Math.log10(tick) <= end;
  const powerTicks = powers.filter(isInside);
  const ticks =
    powerTicks.length > 1 ? powerTicks : powers.flatMap((power) => [power, 2 * power, 5 * power]).filter(isInside);
  return {
    toPixel: (value) => fromPixel + ((Math.log10(value) - start) / (end - start)) * (toPixel - fromPixel),
    ticks,
  };
}

function renderPanel({ title, lines }: PlotPanel): string {
  const points = lines.flatMap((line) => line.points);
  const sizes = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const [right, bottom] = [panelWidth - margin.right, panelHeight - margin.bottom];
  const x = logScale(sizes, margin.left, right);
  const y = logScale(
    points.map((point) => point.y),
    bottom,
    margin.top,
  );
  const gridLines = y.ticks.map((tick) => {
    const height = y.toPixel(tick);
    return `<line x1="${margin.left}" y1="${px(height)}" x2="${right}" y2="${px(height)}" stroke="#e2e8f0"/><text x="${margin.left - 5}" y="${px(height + 3)}" text-anchor="end" fill="#64748b">${tickLabel(tick)}</text>`;
  });
  const xLabels = sizes.map(
    (size) =>
      `<text x="${px(x.toPixel(size))}" y="${bottom + 14}" text-anchor="middle" fill="#64748b">${tickLabel(size)}</text>`,
  );
  return [
    `<text x="${margin.left}" y="18" font-weight="bold" fill="#0f172a">${title}</text>`,
    ...gridLines,
    ...xLabels,
    ...lines.map((line) => renderLine(line, x, y)),
  ].join("");
}

function renderLine({ name, points }: PlotLine, x: Scale, y: Scale): string {
  const pixels = points.map((point) => ({ x: px(x.toPixel(point.x)), y: px(y.toPixel(point.y)) }));
  const path = pixels.map((pixel) => `${pixel.x},${pixel.y}`).join(" ");
  const dots = pixels.map((pixel) => `<circle cx="${pixel.x}" cy="${pixel.y}" r="2" fill="${colorOf(name)}"/>`);
  return `<polyline points="${path}" fill="none" stroke="${colorOf(name)}" stroke-width="${strokeWidthOf(name)}"/>${dots.join("")}`;
}

const px = (value: number): string => value.toFixed(1);

const tickLabel = (value: number): string =>
  value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)));

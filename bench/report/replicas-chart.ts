/** Draws processor time per request by replicas, and charges a second. */
import { barY, gridY, type PlotOptions, ruleY, text } from "@observablehq/plot";
import type { ChargesCeiling, ReplicaLoad, ReplicaMix } from "./separate-results.ts";
import { chartColors, renderChart } from "./svg-chart.ts";

const { ink, grid, orange, blue, slate } = chartColors;
const layers = [
  { name: "services", color: orange, of: (load: ReplicaLoad) => load.processor_ms },
  { name: "PostgreSQL", color: blue, of: (load: ReplicaLoad) => load.postgres_ms },
  { name: "clients; pgbench with 16 connections", color: slate, of: (load: ReplicaLoad) => load.client_ms },
] as const;

/** Returns an SVG document. */
export function renderReplicas({ loads }: ReplicaMix, charges: ChargesCeiling): string {
  return renderChart({
    title: "Replicas on one machine",
    subtitle:
      "Processor time in ms per request of the query mix; charges a second with group commit; x is the number of replicas",
    legend: layers.map(({ name, color }) => ({ name, color })),
    panels: [
      mixPanel(
        "uncached mix, 8 clients",
        loads.filter(({ answers }) => answers === "uncached"),
      ),
      mixPanel(
        "cached mix, 64 clients",
        loads.filter(({ answers }) => answers === "cached"),
      ),
      chargesPanel("charges/s, 1,000 accounts", charges, 1000),
      chargesPanel("charges/s, one account", charges, 1),
    ],
    ...{ panelWidth: 220, panelHeight: 190, panelsPerRow: 4 },
  });
}

const frame = (title: string): PlotOptions => ({
  ...{ marginLeft: 44, marginRight: 16, marginTop: 34, marginBottom: 24 },
  x: { type: "band", tickSize: 0, label: null, padding: 0.3 },
  y: { ticks: 4, tickSize: 0, label: null, zero: true },
  color: { type: "identity" },
  marks: [
    gridY({ ticks: 4, stroke: grid, strokeOpacity: 1 }),
    text([title], { frameAnchor: "top-left", dy: -24, fill: ink, fontWeight: 600 }),
  ],
});

function mixPanel(title: string, loads: readonly ReplicaLoad[]): PlotOptions {
  const parts = loads.flatMap((load) =>
    layers.map(({ color, of }) => ({ replicas: load.replicas, ms: of(load), color })),
  );
  const { marks = [], ...options } = frame(title);
  return { ...options, marks: [...marks, barY(parts, { x: "replicas", y: "ms", fill: "color" })] };
}

function chargesPanel(title: string, { loads }: ChargesCeiling, accounts: number): PlotOptions {
  const ofAccounts = loads.filter((load) => load.accounts === accounts);
  const replicas = ofAccounts.filter(({ writer }) => writer === "PostgreSQL");
  const baseline = ofAccounts.find(({ writer, clients }) => writer === "pgbench" && clients === 16);
  const { marks = [], ...options } = frame(title);
  return {
    ...options,
    marks: [
      ...marks,
      barY(replicas, { x: "clients", y: "charges_per_second", fill: blue }),
      ruleY([baseline?.charges_per_second ?? 0], { stroke: slate, strokeWidth: 2 }),
    ],
  };
}

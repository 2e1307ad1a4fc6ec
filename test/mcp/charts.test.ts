/** Charts of answers in clients that show pages of a server: the real page in Chromium, with a host that speaks its protocol. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { agentChartPage, drawAnswer } from "../../src/web/charts/agent-charts.tsx";
import { connectAgent } from "../support/agents.ts";
import { launchBrowser, skipWithoutBrowser } from "../support/http/browser.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const service = await startService(fileScope, lake, {
  mountSite: (app, services) => mountAgents(app, services, { page: agentChartPage(), draw: drawAnswer }),
});
const mimeType = "text/html;profile=mcp-app";
const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: [mimeType] } };
const agent = await connectAgent(fileScope, service.url, service.customer.bearer, { capabilities: { extensions } });
const plain = await connectAgent(fileScope, service.url, service.customer.bearer);

test("tools of facets and trends name the page, to clients that show pages only", async () => {
  const { tools } = await agent.client.listTools();
  const paged = tools.flatMap(({ name, _meta }) => (_meta?.ui === undefined ? [] : [name]));
  assert.deepEqual(paged, ["find_values", "count_facets", "market_statistics", "trends"]);
  assert.ok(JSON.stringify(tools).length < 21_000, `${JSON.stringify(tools).length}`);
  assert.doesNotMatch(JSON.stringify(await plain.client.listTools()), /ui:\/\//);
  const args = { name: "trends", arguments: { metric: ["count"] } };
  assert.equal((await plain.client.callTool(args))._meta?.["carquet/chart"], undefined);
  await assert.rejects(agent.client.readResource({ uri: "ui://carquet/other" }), /not found/i);
});

test("bars of negative numbers are as long as their distance from zero, and lone points of a line are dots", () => {
  const buckets = [-0.02, -0.05, -0.1].map((value) => ({
    value: String(value),
    count: 20,
    metric: { name: "discount_from_msrp.median", value },
  }));
  const bars = drawAnswer({ data: { facets: { make: buckets } } }) ?? "";
  assert.deepEqual(
    [...bars.matchAll(/<rect width="([^"]+)"/g)].map(([, width]) => width),
    ["20%", "50%", "100%"],
  );
  const sold = [0, null, 0, null, 1].map((value, day) => ({
    end: `2026-11-1${day}`,
    metrics: [{ name: "sold", value }],
  }));
  const line = drawAnswer({ data: [{ value: null, points: sold }] }) ?? "";
  assert.match(line, /d="M[\d.]+ [\d.]+h0M[\d.]+ [\d.]+h0M[\d.]+ [\d.]+h0"/);
  assert.doesNotMatch(line, />[-−]\d/, "no count is below zero");
});

test("the page draws the results of tools", { skip: skipWithoutBrowser }, async (t) => {
  const { contents } = await agent.client.readResource({ uri: "ui://carquet/chart" });
  const [page] = contents;
  assert.ok(page !== undefined && "text" in page && page.mimeType === mimeType);
  assert.doesNotMatch(page.text, /(src|href)=|@import|https?:\/\/(?!www\.w3\.org)/);
  const tab = await (await launchBrowser(t)).newPage();
  const faults: string[] = [];
  tab.on("pageerror", ({ message }) => faults.push(message));
  tab.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
  const framed = page.text.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
  const show = async (name: string, args: Record<string, unknown>) => {
    const result = await agent.client.callTool({ name, arguments: args });
    await tab.setContent(`<iframe sandbox="allow-scripts" width="700" height="900"></iframe>`);
    await tab.evaluate(
      ([html, params]) => {
        const frame = document.querySelector("iframe");
        const heights: number[] = [];
        Object.assign(window, { heights });
        window.addEventListener("message", ({ data: { id, method, params: sent } }) => {
          // Functions with names need a helper of the compiler, which the browser lacks.
          const answers: Record<string, object> = {
            "ui/initialize": { id, result: { protocolVersion: "2026-01-26" } },
            "ui/notifications/initialized": { method: "ui/notifications/tool-result", params },
          };
          if (method in answers) frame?.contentWindow?.postMessage({ jsonrpc: "2.0", ...answers[method] }, "*");
          if (method === "ui/notifications/size-changed") heights.push(sent.height);
        });
        if (frame !== null) frame.srcdoc = html;
      },
      [framed, result] as const,
    );
    const frame = tab.frameLocator("iframe");
    await frame.locator("figure").first().waitFor();
    return frame;
  };
  const bars = await show("count_facets", { facets: ["make"] });
  assert.ok((await bars.locator("svg.meter rect").count()) > 5);
  const lines = await show("trends", {
    metric: ["count", "price.median"],
    facet: ["make"],
    facet_limit: 3,
    interval: "day",
  });
  assert.deepEqual(
    [await lines.locator("figure").count(), await lines.locator("svg.wide path[fill='none']").count()],
    [2, 6],
  );
  assert.ok(Number(await tab.evaluate("Math.max(...heights)")) > 200);
  assert.deepEqual(faults, []);
});

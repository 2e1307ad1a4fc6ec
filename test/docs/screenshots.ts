/** Takes the screenshots of README.md and docs/ again, from the demo market of a fixed day: `npm run screenshots`. */
import { writeFile } from "node:fs/promises";
import { projectPath } from "../../src/base/project-files.ts";
import { startServing } from "../support/command-line.ts";
import { launchBrowser } from "../support/http/browser.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { type Scope, withScope } from "../support/scope.ts";

interface Screenshot {
  /** The file in docs/images/, without its extension. */
  readonly name: string;
  readonly path: string;
  readonly colorScheme?: "dark";
  readonly width?: number;
  readonly height?: number;
}

const screenshots: readonly Screenshot[] = [
  {
    name: "explorer-search",
    path: "/shop?inventory_type=used,certified&max_price=40000&value_rating=great,good",
    height: 680,
  },
  { name: "explorer-front", path: "/", height: 760 },
  { name: "explorer-phone", path: "/shop?make=Toyota", width: 390 },
  { name: "explorer-market", path: "/market?show=Toyota&against=Honda" },
  { name: "explorer-dark", path: "/dealers", colorScheme: "dark" },
  { name: "docs-operation", path: "/docs/search-listings", height: 720 },
];

const size = { width: 1280, height: 860 };

async function takeScreenshots(scope: Scope): Promise<void> {
  const lake = await temporaryFolder(scope);
  const service = await startServing(scope, [
    "start",
    "--end",
    "2026-11-19",
    "--lake",
    lake,
    "--port",
    "0",
    "--auth",
    "off",
  ]);
  for (const { name, path, colorScheme = "light", width = size.width, height = size.height } of screenshots) {
    const context = await launchBrowser(scope, { colorScheme, viewport: { width, height } });
    const page = await context.newPage();
    await page.goto(new URL(path, service.url).href, { waitUntil: "networkidle" });
    const file = projectPath(`docs/images/${name}.png`);
    await writeFile(file, await page.screenshot());
    process.stdout.write(`${file}\n`);
  }
}

await withScope(takeScreenshots);
process.exit();

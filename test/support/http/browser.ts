/** Chromium for tests: Debian's, or the executable that `CHROMIUM` names. */
import { existsSync } from "node:fs";
import { type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { onScopeEnd, type Scope } from "../scope.ts";

const paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? paths.find((path) => existsSync(path));

/** Reason to skip a browser test, or false. */
export const skipWithoutBrowser =
  executablePath === undefined ? "no browser found: install chromium, or set CHROMIUM to its path" : false;

/** Launches a browser without a history; closes it when the scope ends. */
export async function launchBrowser(scope: Scope, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }) });
  onScopeEnd(scope, () => browser.close());
  return browser.newContext(options);
}

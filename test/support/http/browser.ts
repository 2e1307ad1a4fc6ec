/** Chromium for tests: Debian's, or the executable that `CHROMIUM` names. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { groupScope, onScopeEnd, type Scope } from "../scope.ts";

const paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? paths.find((path) => existsSync(path));

/** Reason to skip a browser test, or false. */
export const skipWithoutBrowser =
  executablePath === undefined ? "no browser found: install chromium, or set CHROMIUM to its path" : false;

let launched: Promise<Browser> | undefined;
onScopeEnd(groupScope, async () => (await launched)?.close());

/** Returns a browser without a history, which is closed when the scope ends. All files of a group share the process of the browser. */
export async function launchBrowser(scope: Scope, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  launched ??= chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }) });
  const context = await (await launched).newContext(options);
  onScopeEnd(scope, () => context.close());
  return context;
}

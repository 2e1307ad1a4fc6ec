/** A real browser for a test, where there is one: Debian's chromium, or the one that CHROMIUM names. */
import { existsSync } from "node:fs";
import { type BrowserContext, chromium } from "playwright-core";
import { atEndOf, type Scope } from "./scope.ts";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? places.find((path) => existsSync(path));

/** Why a test that needs a browser is skipped; false when it is not. */
export const withoutBrowser =
  executablePath === undefined ? "there is no browser: install chromium, or set CHROMIUM to its path" : false;

/** A browser without a history, closed when the scope ends. */
export async function browserOf(scope: Scope): Promise<BrowserContext> {
  const browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }) });
  atEndOf(scope, () => browser.close());
  return browser.newContext();
}

/** The web application in a browser: signed-in pages, their errors, and their accessibility. */
import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { projectText } from "../../../src/base/project-files.ts";
import { launchBrowser } from "../http/browser.ts";
import type { Client } from "../http/service.ts";
import type { Scope } from "../scope.ts";

export interface Site {
  /** Opens a page of the signed-in account. */
  open(path: string): Promise<Page>;
  /** Opens a page of the service in a browser without a history, as a visitor who is not signed in. */
  openAnonymously(path: string): Promise<Page>;
  /** Opens a page of the signed-in account in a browser without scripts. */
  openWithoutScripts(path: string): Promise<Page>;
  /** Errors of scripts, violations of the policy, dialogs, and requests to other hosts, of all pages. */
  readonly faults: readonly string[];
}

/** Launches a browser that is signed in to the customer's account. */
export async function signedInBrowser(scope: Scope, client: Client): Promise<Site> {
  const context = await launchBrowser(scope);
  const faults: string[] = [];
  const openIn = async (where: BrowserContext, path: string): Promise<Page> => {
    const page = await where.newPage();
    collectFaults(page, client.url, faults);
    await page.goto(`${client.url}${path}`);
    return page;
  };
  const signIn = async (where: BrowserContext): Promise<BrowserContext> => {
    const value = String(await client.sessions.create({ accountId: client.customer.accountId }));
    await where.addCookies([{ name: "carquet-session", value, url: client.url, httpOnly: true, sameSite: "Lax" }]);
    return where;
  };
  await signIn(context);
  return {
    faults,
    open: (path) => openIn(context, path),
    openAnonymously: async (path) => openIn(await launchBrowser(scope), path),
    openWithoutScripts: async (path) =>
      openIn(await signIn(await launchBrowser(scope, { javaScriptEnabled: false })), path),
  };
}

function collectFaults(page: Page, origin: string, faults: string[]): void {
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text());
  });
  page.on("dialog", async (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (new URL(url).origin !== origin && !url.startsWith("data:")) faults.push(`request to ${url}`);
  });
}

const axe = projectText("node_modules/axe-core/axe.min.js");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Fails if axe finds a violation on a page: with all rules in the light theme, with that of contrasts in the dark one. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  for (const [colorScheme, options] of [
    ["light", "{}"],
    ["dark", '{ runOnly: ["color-contrast"] }'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const violations: readonly Violation[] = await page.evaluate(
      `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
    );
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join("; ")}`);
    assert.deepEqual(found, [], `${page.url()}, ${colorScheme}`);
  }
}

/** Fails if a page is wider than a narrow phone, also with all that unfolds. */
export async function assertFitsPhone(page: Page): Promise<void> {
  const width = 360;
  await page.setViewportSize({ width, height: 800 });
  const contentWidth = await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    return document.documentElement.scrollWidth;
  });
  assert.ok(contentWidth <= width, `${page.url()}: ${contentWidth} pixels wide`);
}

/** The web application in a browser: signed-in pages, what goes wrong on them, and their accessibility. */
import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { projectText } from "../../../src/base/project-files.ts";
import { launchBrowser } from "../http/browser.ts";
import type { Client } from "../http/service.ts";
import type { Scope } from "../scope.ts";

export interface Site {
  /** Opens a page of the signed-in account. */
  open(path: string): Promise<Page>;
  readonly context: BrowserContext;
  /** Errors of scripts, violations of the policy, dialogs, and requests to other hosts, of all pages. */
  readonly faults: readonly string[];
}

/** Launches a browser that is signed in to the customer's account. */
export async function signedInBrowser(scope: Scope, client: Client): Promise<Site> {
  const context = await launchBrowser(scope);
  const value = await client.sessions.create(client.customer.accountId);
  await context.addCookies([{ name: "carquet-session", value, url: client.url, httpOnly: true, sameSite: "Lax" }]);
  const faults: string[] = [];
  context.on("page", (page) => collectFaults(page, client.url, faults));
  return {
    context,
    faults,
    async open(path) {
      const page = await context.newPage();
      await page.goto(`${client.url}${path}`);
      return page;
    },
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

/** Fails if axe finds a violation on a page, in the light or the dark theme. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const violations: readonly Violation[] = await page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))",
    );
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join("; ")}`);
    assert.deepEqual(found, [], `${page.url()}, ${colorScheme}`);
  }
}

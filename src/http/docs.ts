/**
 * The document for people: a page at `/docs` that reads `/v1/openapi.json` and can try each operation. Everything on it comes from
 * this service; its policy lets a browser load nothing else.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Middleware } from "./context.ts";
import { serveContent } from "./static-content.ts";

const { resolve } = createRequire(import.meta.url);
const own = (file: string): string => fileURLToPath(new URL(`docs/${file}`, import.meta.url));

/** Every path of the page, its content's type and file. */
const files: Readonly<Record<string, readonly [type: string, file: string]>> = {
  "/docs": ["text/html; charset=utf-8", own("page.html")],
  "/docs/page.css": ["text/css; charset=utf-8", own("page.css")],
  "/docs/start.js": ["text/javascript; charset=utf-8", own("start.js")],
  "/docs/swagger-ui.css": ["text/css; charset=utf-8", resolve("swagger-ui-dist/swagger-ui.css")],
  "/docs/swagger-ui-bundle.js": ["text/javascript; charset=utf-8", resolve("swagger-ui-dist/swagger-ui-bundle.js")],
  "/docs/icon.png": ["image/png", resolve("swagger-ui-dist/favicon-32x32.png")],
};

/** What the page may load and do; its icons are images within its styles. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function docs(): Middleware {
  const served = new Map(
    Object.entries(files).map(([path, [type, file]]) => [path, serveContent(readFileSync(file), type)]),
  );
  return async (context, next) => {
    const serve = served.get(context.path);
    if (serve === undefined) return next();
    context.set("Content-Security-Policy", policy);
    return serve(context, next);
  };
}

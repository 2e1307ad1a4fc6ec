/**
 * The document for people: a page at `/docs` that reads `/v1/openapi.json` and can try each operation. Everything on it comes from
 * this service; its policy lets a browser load nothing else.
 */
import { readFileSync } from "node:fs";
import type { Middleware } from "./context.ts";
import { serveContent } from "./static-content.ts";

/** Every path of the page, its content's type and its file in `docs/`. */
const files: Readonly<Record<string, readonly [type: string, file: string]>> = {
  "/docs": ["text/html; charset=utf-8", "page.html"],
  "/docs/page.css": ["text/css; charset=utf-8", "page.css"],
  "/docs/start.js": ["text/javascript; charset=utf-8", "start.js"],
  "/docs/swagger-ui.css": ["text/css; charset=utf-8", "swagger-ui/swagger-ui.css"],
  "/docs/swagger-ui-bundle.js": ["text/javascript; charset=utf-8", "swagger-ui/swagger-ui-bundle.js"],
  "/docs/icon.png": ["image/png", "swagger-ui/favicon-32x32.png"],
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
    Object.entries(files).map(([path, [type, file]]) => [path, serveContent(readDocsFile(file), type)]),
  );
  return async (context, next) => {
    const serve = served.get(context.path);
    if (serve === undefined) return next();
    context.set("Content-Security-Policy", policy);
    return serve(context, next);
  };
}

const readDocsFile = (file: string): Buffer => readFileSync(new URL(`docs/${file}`, import.meta.url));

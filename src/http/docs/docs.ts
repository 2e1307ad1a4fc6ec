/**
 * API reference for browsers: Swagger UI at `/docs`, which renders `/v1/openapi.json` and can send requests. It loads nothing from
 * other hosts; its Content-Security-Policy forbids it.
 */
import { readFileSync } from "node:fs";
import { projectPath } from "../../base/project-files.ts";
import type { Middleware } from "../context.ts";
import { serveContent } from "../responses/etag.ts";
import { createRouter, type Routes } from "../router.ts";

/** The media type and file of each path; files are relative to `docs/`. */
const assets: Readonly<Record<string, readonly [mediaType: string, file: string]>> = {
  "/docs": ["text/html; charset=utf-8", "page.html"],
  "/docs/page.css": ["text/css; charset=utf-8", "page.css"],
  "/docs/start.js": ["text/javascript; charset=utf-8", "start.js"],
  "/docs/swagger-ui.css": ["text/css; charset=utf-8", "swagger-ui/swagger-ui.css"],
  "/docs/swagger-ui-bundle.js": ["text/javascript; charset=utf-8", "swagger-ui/swagger-ui-bundle.js"],
  "/docs/icon.png": ["image/png", "swagger-ui/favicon-32x32.png"],
};

/** Swagger UI's style sheet embeds its icons as `data:` images. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const allowOwnContent: Middleware = (context, next) => {
  context.set("Content-Security-Policy", contentSecurityPolicy);
  return next();
};

/** Returns the router of the page and its assets, which it reads once. */
export function serveDocs(): Routes {
  const router = createRouter();
  for (const [path, [mediaType, file]] of Object.entries(assets))
    router.get(path, allowOwnContent, serveContent(readAsset(file), mediaType));
  return router.routes();
}

const readAsset = (file: string): Buffer => readFileSync(projectPath(`src/http/docs/${file}`));

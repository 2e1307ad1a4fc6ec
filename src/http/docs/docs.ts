/** The icon of the pages. It is served without the web application too. */
import { readFileSync } from "node:fs";
import { projectPath } from "../../base/project-files.ts";
import { createRouter, type Routes } from "../context.ts";
import { serveContent } from "../responses/headers.ts";

/** Returns the router of the icon, which it reads once. */
export function serveDocs(): Routes {
  const router = createRouter();
  router.get("/docs/icon.png", serveContent(readFileSync(projectPath("src/http/docs/icon.png")), "image/png"));
  return router.routes();
}

/** The style sheet, the typeface, the drawings and the browser modules: bundled by `bin/compile.cjs`, under names with a hash of their content. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import type Router from "@koa/router";
import { projectPath } from "../../base/project-files.ts";
import type { RequestState } from "../../http/context.ts";

interface Compiler {
  /** Returns the folder of the bundles. */
  bundleClient(): string;
}

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

const prefix = "/assets/";
const yearSeconds = 31_536_000;

/** Reads all bundles. Returns their content by path. */
function readBundles(): ReadonlyMap<string, Buffer> {
  const compiler: Compiler = createRequire(import.meta.url)(projectPath("bin/compile.cjs"));
  const folder = compiler.bundleClient();
  return new Map(readdirSync(folder).map((file) => [`${prefix}${file}`, readFileSync(join(folder, file))]));
}

const bundles = readBundles();

/** Returns the path of a bundle by the name of its entry, such as `style.css`. */
export function assetPath(name: string): string {
  const extension = extname(name);
  const start = `${prefix}${name.slice(0, -extension.length)}-`;
  const found = [...bundles.keys()].find((path) => path.startsWith(start) && path.endsWith(extension));
  if (found === undefined)
    throw new TypeError(`No bundle of ${name}: expected it among the entries of bin/compile.cjs.`);
  return found;
}

/** The path of the typeface, which the style sheet names too. */
export const typefacePath = assetPath("archivo.woff2");

/** Returns the content of a bundle by the name of its entry. */
export const assetText = (name: string): string => String(bundles.get(assetPath(name)));

/** Adds the bundles to a router. Their content never changes under one name. */
export function addAssets(router: Router<RequestState>): void {
  for (const [path, content] of bundles)
    router.get(path, (context) => {
      context.set("Cache-Control", `public, max-age=${yearSeconds}, immutable`);
      context.set("Content-Type", mediaTypes[extname(path)] ?? "application/octet-stream");
      context.body = content;
    });
}

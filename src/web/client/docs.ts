/** The entry of the browser modules of the docs. Every page works without them, except its console. */
import { enhanceConsole } from "./docs-console.ts";
import { enhanceDocsSearch } from "./docs-search.ts";

enhanceConsole();
enhanceDocsSearch();

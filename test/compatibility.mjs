/** The test files that run on every version of Node.js: what depends on native modules, the thread pool, HTTP, streams and processes. */
export const compatibilityFiles = [];

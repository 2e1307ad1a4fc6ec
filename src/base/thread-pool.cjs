/**
 * Sets the size of libuv's thread pool, where DuckDB's queries and file operations run; an operator's own size stays.
 *
 * libuv reads the size when the pool is first used, and Node.js uses it to load the first ES module. So this is CommonJS, loaded with
 * `--require`: an assignment in a module comes too late.
 */
process.env.UV_THREADPOOL_SIZE ??= "16";

/**
 * Sets the size of libuv's thread pool, which runs DuckDB queries and file operations, unless the operator has set one.
 *
 * libuv reads the size when the pool is first used, and Node.js uses the pool to load the first ES module. This file is therefore
 * CommonJS, loaded with `--require`; an assignment in an ES module is too late.
 */
process.env.UV_THREADPOOL_SIZE ??= "32";

#!/usr/bin/env node
/**
 * Starts carquet: sets the size of libuv's thread pool, compiles the program if its sources have changed, and runs it.
 *
 * CommonJS, because libuv reads the size when the pool is first used, and Node.js uses the pool to load the first ES module.
 */
require("../src/base/thread-pool.cjs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { compile } = require("./compile.cjs");

process.setSourceMapsEnabled(true);
import(pathToFileURL(join(compile(["src"]), "src/main.js")).href);

/** Ends this process when its parent has ended, even by SIGKILL. Loaded with `--require` into a child with an IPC channel. */
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
// Preloaded files run in the loader's thread too, which has no channel.
process.channel?.unref();

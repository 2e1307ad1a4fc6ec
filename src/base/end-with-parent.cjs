/** Kills this process when its parent exits, even by SIGKILL. Loaded with `--require` into a child that has an IPC channel. */
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
// Preloaded files also run in the loader thread, which has no channel.
process.channel?.unref();

/** Signals that end a command. */

/** Exits on a signal as other programs do, after temporary files have been removed: those that an `exit` listener removes. */
export function exitOnSignals(): void {
  const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
  for (const [signal, number] of Object.entries(signals)) process.once(signal, () => process.exit(128 + number));
}

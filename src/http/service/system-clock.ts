/** The clock of the operating system. */
import type { Clock } from "../../accounts/clock.ts";

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

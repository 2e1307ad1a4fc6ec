/** The machine's clock. */
import type { Clock } from "../accounts/clock.ts";

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

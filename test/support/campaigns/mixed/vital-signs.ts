/** Memory, event loop delay and version of a service, read from its metrics once a second. */

/** A reading of the metrics. */
export interface VitalSigns {
  /** Seconds since the start of the load. */
  readonly atSeconds: number;
  readonly residentBytes: number;
  readonly eventLoopP99Ms: number;
  readonly eventLoopMaxMs: number;
  readonly isLedgerAvailable: boolean;
  readonly version: string;
}

/** Reads the metrics; rejects if the service does not answer. */
export async function readVitalSigns(metricsUrl: string, atSeconds: number): Promise<VitalSigns> {
  const response = await fetch(metricsUrl);
  const samples = await response.text();
  const sampleOf = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(samples)?.[1]);
  return {
    atSeconds,
    residentBytes: sampleOf("process_resident_memory_bytes"),
    eventLoopP99Ms: sampleOf("nodejs_eventloop_lag_p99_seconds") * 1000,
    eventLoopMaxMs: sampleOf("nodejs_eventloop_lag_max_seconds") * 1000,
    isLedgerAvailable: sampleOf("carquet_ledger_available") === 1,
    version: /carquet_lake_version_info\{version="([^"]+)"\}/.exec(samples)?.[1] ?? "",
  };
}

/** The part of a run that is not compared, while caches fill. */
const warmUpShare = 0.1;
/** How much more memory the last third may use than the first. */
const growthRatio = 1.15;
const growthBytes = 64 * 2 ** 20;

export interface MemorySummary {
  readonly firstThirdBytes: number;
  readonly lastThirdBytes: number;
  readonly isBounded: boolean;
}

/** Compares the greatest memory in the first and in the last third of a run, after its warm-up. */
export function summarizeMemory(readings: readonly VitalSigns[]): MemorySummary {
  const endSeconds = readings.at(-1)?.atSeconds ?? 0;
  const warmUpSeconds = endSeconds * warmUpShare;
  const greatestIn = (from: number, to: number): number =>
    Math.max(
      0,
      ...readings
        .filter(({ atSeconds }) => {
          const at = (atSeconds - warmUpSeconds) / (endSeconds - warmUpSeconds);
          return from <= at && at <= to;
        })
        .map(({ residentBytes }) => residentBytes),
    );
  const firstThirdBytes = greatestIn(0, 1 / 3);
  const lastThirdBytes = greatestIn(2 / 3, 1);
  return {
    firstThirdBytes,
    lastThirdBytes,
    isBounded: lastThirdBytes <= growthRatio * firstThirdBytes + growthBytes,
  };
}

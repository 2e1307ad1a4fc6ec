/** Fetches into a queue by a sources file, at times that a test chooses. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultFeedLimits, type FeedLimits } from "../../../src/ingest/feed/feed-file.ts";
import type { DayStatus } from "../../../src/ingest/fetch-status.ts";
import { fetchSources } from "../../../src/sources/fetch-sources.ts";
import { type FetchTimes, fetchTimes, type SourceReport } from "../../../src/sources/source-fetch.ts";
import { readSources } from "../../../src/sources/sources-file.ts";
import { temporaryFolder } from "../lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../scope.ts";

export interface Fetching {
  readonly folder: string;
  readonly queue: string;
  /** Writes `sources.yaml`; returns its path. */
  readonly writeSources: (sources: object, more?: object) => string;
  /** Fetches; returns the report of each source by name, and the days that are complete. */
  readonly fetch: (at?: string, limits?: Partial<FeedLimits & FetchTimes>) => Promise<Fetched>;
  /** Returns the paths of files in a folder of the queue. */
  readonly filesIn: (folder: string) => readonly string[];
  readonly textOf: (path: string) => string;
}

export interface Fetched {
  readonly days: readonly string[];
  readonly completed: readonly DayStatus[];
  readonly of: Readonly<Record<string, SourceReport>>;
}

/** Returns a queue and a sources file in a new folder. Days are those of New York; by default, a fetch is at 8 o'clock there. */
export async function fetchingIn(scope: Scope): Promise<Fetching> {
  const folder = await temporaryFolder(scope);
  const queue = join(folder, "feeds");
  const path = join(folder, "sources.yaml");
  return {
    folder,
    queue,
    writeSources: (sources, more = {}) => {
      writeFileSync(path, JSON.stringify({ timeZone: "America/New_York", deadline: "10:00", ...more, sources }));
      return path;
    },
    fetch: async (at = "2026-11-18T13:00:00Z", limits = {}) => {
      const of: Record<string, SourceReport> = {};
      const settings = {
        queue,
        stallMs: 10_000,
        retryMs: 5,
        now: new Date(at),
        limits: { ...defaultFeedLimits, ...limits },
        times: { ...fetchTimes, ...limits },
      };
      const onSource = (report: SourceReport): void => {
        of[report.source] = report;
      };
      const completed = await fetchSources(await readSources(path), { ...settings, onSource });
      return { days: completed.map(({ day }) => day), completed, of };
    },
    filesIn: (name) => {
      try {
        const entries = readdirSync(join(queue, name), { recursive: true, withFileTypes: true });
        return entries
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name).slice(join(queue, name).length + 1))
          .sort();
      } catch {
        return [];
      }
    },
    textOf: (name) => readFileSync(join(queue, name), "utf8"),
  };
}

/** Sets variables of this process until the scope ends. */
export function setVariables(scope: Scope, variables: Readonly<Record<string, string>>): void {
  Object.assign(process.env, variables);
  onScopeEnd(scope, async () => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
}

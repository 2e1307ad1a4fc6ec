/** Types of the part of embedded ClickHouse that the suite uses. The package is a dependency of `bench/package.json` only. */
declare module "chdb" {
  export interface ChdbResult {
    json<T = unknown>(): T;
  }
  export class Session {
    constructor(path: string);
    queryAsync(query: string, options: { format: string }): Promise<ChdbResult>;
    close(): void;
  }
  export function drainPending(): Promise<void>;
}

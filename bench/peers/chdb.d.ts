/** What the suite uses of ClickHouse embedded, which is installed for the suite alone. */
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

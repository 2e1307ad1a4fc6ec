/** The public surface of the package. */
export { CarquetClient, type ClientSettings, type RequestOptions } from "./client.ts";
export type { components, operations, paths } from "./document.gen.ts";
export { CarquetError, type CarquetErrorCode } from "./errors.ts";
export type { PageOf, Pages, PagingOptions } from "./pages.ts";
export type { RetrySettings } from "./retries.ts";

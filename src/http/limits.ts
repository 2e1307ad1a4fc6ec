/** Limits that several modules of the service share, and the defaults of its settings. */

/** The size of a request's path and query; and of these and the headers together. */
export const uriBytesMax = 16_384;
export const headerBytesMax = 32_768;

/** Open connections of one client address. */
export const connectionsPerAddressMax = 1_000;

/** The size of the response cache. */
export const responseCacheBytesMax = 64 * 2 ** 20;

/** How long a stopping service waits for requests in flight. */
export const drainTimeoutMs = 30_000;

/** Exports that are written at once, and those of one account in progress, until the last byte is sent. */
export const exportsMax = 2;
export const accountExportsMax = 4;

/** Exports that wait to be written. */
export const waitingExportsMax = 16;

/** How long an export may take to be written, and then to be sent. */
export const exportDeadlineMs = 1_800_000;

/** The disk space of exports: files that are written, sent, and kept to be resumed. */
export const spoolBytesMax = 8 * 2 ** 30;

/** How long a file of an export is kept once it is written. */
export const spoolAgeMs = 3_600_000;

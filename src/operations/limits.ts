/** Limits of calls of operations: the defaults of settings. */

/** Requests of one account in progress, waiting ones included. */
export const accountRequestsMax = 128;

/** From the arrival of a request to its response. */
export const requestDeadlineMs = 10_000;

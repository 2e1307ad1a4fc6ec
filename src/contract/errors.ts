/**
 * Error table: every error response of the API, one row per code. Domain code throws `refuse(code, details)`; the middleware
 * `handleErrors` turns it into a response. A test keeps the rows equal to the error schemas of the document.
 */

type ErrorRow = readonly [status: number, type: string, tag: string, message: string, retryAfterSeconds?: number];

// biome-ignore format: a table is read by its columns
export const errors = {
  //                             status type                    tag                               message, seconds to retry after
  unknown_query_parameter:       [400,   "validation_error",     "PublicApiValidationError",       "Unknown query parameter {parameter}.{hint}"],
  query_string_api_key_rejected: [400,   "validation_error",     "PublicApiValidationError",       "API key in query parameter {parameter}: expected the header Authorization: Bearer <API_KEY>, because URLs end up in logs."],
  invalid_parameter_value:       [400,   "validation_error",     "PublicApiValidationError",       "Invalid value {value} for {parameter}: expected {allowed}.{hint}"],
  incompatible_parameters:       [400,   "validation_error",     "PublicApiValidationError",       "{parameters} cannot be combined: {reason}."],
  repeated_parameter:            [400,   "validation_error",     "PublicApiValidationError",       "Parameter {parameter} appears {times} times: expected once."],
  missing_parameter:             [400,   "validation_error",     "PublicApiValidationError",       "Missing parameter {parameter}: expected {allowed}."],
  unknown_postal_code:           [400,   "validation_error",     "PublicApiValidationError",       "Invalid value {value} for postal_code: expected an existing US ZIP code."],
  snapshot_unavailable:          [400,   "validation_error",     "PublicApiValidationError",       "No snapshot for snapshot_date {value}: expected a day with a snapshot, from {first} to {last}."],
  version_unavailable:           [400,   "validation_error",     "PublicApiValidationError",       "No version {value} for {parameter}: expected a kept version, from {oldest} to {newest}."],
  invalid_statement:             [400,   "validation_error",     "PublicApiValidationError",       "Invalid SQL: {reason}"],
  missing_api_key:               [401,   "authentication_error", "PublicApiAuthenticationError",   "Missing API key: expected the header Authorization: Bearer <API_KEY>."],
  invalid_api_key:               [401,   "authentication_error", "PublicApiAuthenticationError",   "Invalid API key: expected the header Authorization: Bearer <API_KEY>, with the secret of a key that exists and is not revoked."],
  billing_state_blocked:         [402,   "billing_error",        "PublicApiBillingError",          "The account's billing state, {state}, blocks paid requests{why}. Ask the operator of this service {remedy}."],
  monthly_spend_cap_exceeded:    [402,   "billing_error",        "PublicApiBillingError",          "This request would exceed the account's monthly spend cap of {cap} USD."],
  missing_scope:                 [403,   "permission_error",     "PublicApiPermissionError",       "This API key lacks the scope {scope}: expected a key with that scope."],
  not_found:                     [404,   "not_found_error",      "PublicApiNotFoundError",         "No {what} {id} exists."],
  method_not_allowed:            [405,   "request_error",        "PublicApiRequestError",          "Method {method} is not allowed: expected {allowed}."],
  not_acceptable:                [406,   "request_error",        "PublicApiRequestError",          "No acceptable format in Accept {value}: expected one of {allowed}."],
  precondition_failed:           [412,   "request_error",        "PublicApiRequestError",          "Precondition failed: no entity tag in If-Match {value} is the strong tag of the response."],
  body_too_large:                [413,   "request_error",        "PublicApiRequestError",          "The body is too large: expected at most {limit} bytes."],
  uri_too_long:                  [414,   "request_error",        "PublicApiRequestError",          "The path and query are too long: expected at most {limit} bytes. Send fewer or shorter values."],
  range_not_satisfiable:         [416,   "request_error",        "PublicApiRequestError",          "Invalid Range: expected a range that begins within the {bytes} bytes of the export."],
  idempotency_key_reused:        [422,   "idempotency_error",    "PublicApiIdempotencyError",      "The Idempotency-Key was used for a different request: expected a new key, or the operation and parameters of the first request."],
  too_many_invalid_api_keys:     [429,   "rate_limit_error",     "PublicApiRateLimitError",        "Too many invalid API keys from this address: more than {limit} in {window} seconds. Retry in {retryAfter} seconds."],
  rate_limit_exceeded:           [429,   "rate_limit_error",     "PublicApiRateLimitError",        "Rate limit exceeded: more than {limit} requests in {window} seconds. Retry in {retryAfter} seconds."],
  concurrency_limit_exceeded:    [429,   "rate_limit_error",     "PublicApiRateLimitError",        "Too many concurrent requests: more than {limit} of this account are in progress. Retry in {retryAfter} seconds."],
  headers_too_large:             [431,   "request_error",        "PublicApiRequestError",          "The request line and headers are too large: expected at most {limit} bytes together."],
  internal_error:                [500,   "platform_error",       "PublicApiPlatformError",         "Internal error. Quote request id {request} to the operator."],
  metering_unavailable:          [503,   "platform_error",       "PublicApiPlatformError",         "Usage metering is unavailable. Retry later.", 2],
  data_unavailable:              [503,   "platform_error",       "PublicApiPlatformError",         "{reason}", 10],
  overloaded:                    [503,   "platform_error",       "PublicApiPlatformError",         "Overloaded: too many requests are waiting. Retry later.", 2],
  deadline_exceeded:             [504,   "platform_error",       "PublicApiPlatformError",         "Deadline exceeded: the request took longer than {seconds} seconds. Add filters to narrow it."],
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** The placeholders of a message: `"No {what} {id} exists."` has `what` and `id`. */
type Placeholders<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

type Details<Code extends ErrorCode> = Readonly<Record<Placeholders<(typeof errors)[Code][3]>, string | number>>;

/** An exception that becomes the error response of its code. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** The `Retry-After` header and `retryAfter` in the body, for temporary errors. */
    readonly retryAfterSeconds?: number,
    /** The parameters that its message names; empty if it names none. */
    readonly parameters = "",
  ) {
    super(message);
  }
}

/** Returns the refusal with a code, for throwing. The details fill the placeholders of its message; `retryAfter` is in seconds. */
export function refuse<Code extends ErrorCode>(
  code: Code,
  details: Details<Code> & { readonly retryAfter?: number },
): Refusal {
  const values: Readonly<Record<string, string | number>> = details;
  const [, , , message, fixedSeconds]: ErrorRow = errors[code];
  const { retryAfter = fixedSeconds, parameter = "", parameters = parameter } = values;
  const text = message.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
  return new Refusal(code, text, typeof retryAfter === "number" ? retryAfter : undefined, String(parameters));
}

/** Returns the response body, schemas `ErrorValidation` to `ErrorDeadlineExceeded`. */
export function errorBody({ code, message, retryAfterSeconds }: Refusal): object {
  const [, type, tag] = errors[code];
  const retry = retryAfterSeconds === undefined ? {} : { retryAfter: retryAfterSeconds };
  return { _tag: tag, error: { type, code, message, ...retry } };
}

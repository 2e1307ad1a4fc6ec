/**
 * Every error that the API answers with, one row each. Domain code throws `refuse(code, details)`; one place of the HTTP
 * floor turns it into a response. The rows agree with the error bodies of `schemas/openapi.yaml`; a test holds them together.
 */

type ErrorRow = readonly [status: number, type: string, tag: string, message: string];

// biome-ignore format: a table is read by its columns
export const errors = {
  //                             status type                    tag                               message
  unknown_query_parameter:       [400,   "validation_error",     "PublicApiValidationError",       "Unknown query parameter {parameter}.{hint}"],
  query_string_api_key_rejected: [400,   "validation_error",     "PublicApiValidationError",       "The parameter {parameter} looks like an API key in the query string, where it ends up in logs; send it as Authorization: Bearer <API_KEY>."],
  invalid_parameter_value:       [400,   "validation_error",     "PublicApiValidationError",       "Parameter {parameter}: {value} is not valid; allowed is {allowed}.{hint}"],
  incompatible_parameters:       [400,   "validation_error",     "PublicApiValidationError",       "{parameters} cannot be combined: {reason}."],
  repeated_parameter:            [400,   "validation_error",     "PublicApiValidationError",       "Parameter {parameter} is given {times} times; give it once{how}."],
  missing_parameter:             [400,   "validation_error",     "PublicApiValidationError",       "Parameter {parameter} is missing; it takes {allowed}."],
  unknown_postal_code:           [400,   "validation_error",     "PublicApiValidationError",       "Parameter postal_code: {value} is no known US ZIP code."],
  snapshot_unavailable:          [400,   "validation_error",     "PublicApiValidationError",       "Parameter snapshot_date: there is no snapshot of {value}; the first is {first}, the last {last}."],
  missing_api_key:               [401,   "authentication_error", "PublicApiAuthenticationError",   "This request needs a key: Authorization: Bearer <API_KEY>."],
  invalid_api_key:               [401,   "authentication_error", "PublicApiAuthenticationError",   "This key is not valid."],
  billing_state_blocked:         [402,   "billing_error",        "PublicApiBillingError",          "The account's billing state, {state}, blocks paid requests{why}."],
  monthly_spend_cap_exceeded:    [402,   "billing_error",        "PublicApiBillingError",          "This request would exceed the account's monthly spend cap of {cap} USD."],
  missing_scope:                 [403,   "permission_error",     "PublicApiPermissionError",       "This key lacks the scope {scope}."],
  not_found:                     [404,   "not_found_error",      "PublicApiNotFoundError",         "No {what} {id}."],
  method_not_allowed:            [405,   "request_error",        "PublicApiRequestError",          "Method {method} is not allowed; allowed is GET."],
  rate_limit_exceeded:           [429,   "rate_limit_error",     "PublicApiRateLimitError",        "More than {limit} requests in {window} seconds; try again in {retryAfter} seconds."],
  internal_error:                [500,   "platform_error",       "PublicApiPlatformError",         "Something went wrong here. Tell the operator the request id {request}."],
  metering_unavailable:          [503,   "platform_error",       "PublicApiPlatformError",         "Usage cannot be metered at the moment, so nothing is answered."],
  data_unavailable:              [503,   "platform_error",       "PublicApiPlatformError",         "No inventory has been published yet."],
  overloaded:                    [503,   "platform_error",       "PublicApiPlatformError",         "Too many requests are waiting; try again."],
  deadline_exceeded:             [504,   "platform_error",       "PublicApiPlatformError",         "The answer took longer than {seconds} seconds; narrow the request."],
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** The placeholders of a message: `"No {what} {id}."` has `what` and `id`. */
type Placeholders<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** What the message of an error is filled with. */
export type Details<Code extends ErrorCode> = Readonly<Record<Placeholders<(typeof errors)[Code][3]>, string | number>>;

/** A request that is answered with an error of the table. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Seconds after which to try again, for the errors that pass. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** The refusal of a request, its message filled with the details. */
export function refuse<Code extends ErrorCode>(code: Code, details: Details<Code>): Refusal {
  const filled: Readonly<Record<string, string | number>> = details;
  const { retryAfter } = filled;
  return new Refusal(
    code,
    errors[code][3].replace(/\{(\w+)\}/g, (_, name: string) => String(filled[name])),
    typeof retryAfter === "number" ? retryAfter : undefined,
  );
}

/** The body of an error, as `schemas/openapi.yaml` has it. */
export function errorBody({ code, message, retryAfterSeconds }: Refusal): object {
  const [, type, tag] = errors[code];
  const retry = type === "rate_limit_error" ? { retryAfter: retryAfterSeconds } : {};
  return { _tag: tag, error: { type, code, message, ...retry } };
}

/** Errors of the API as exceptions with the API's code. */
import type { operations } from "./document.gen.ts";

/** The bodies of all documented responses of all operations. */
type Bodies = {
  [Id in keyof operations]: {
    [Status in keyof operations[Id]["responses"]]: operations[Id]["responses"][Status] extends {
      readonly content: { readonly "application/json": infer Body };
    }
      ? Body
      : never;
  }[keyof operations[Id]["responses"]];
}[keyof operations];

type CodeIn<Body> = Body extends { readonly error: { readonly code: infer Code } } ? Code : never;

/** A code of the document; `unexpected_response` if the response is not one of the API, such as that of a failed proxy. */
export type CarquetErrorCode = CodeIn<Bodies> | "unexpected_response";

/** A response that is an error. Branch on `code`; the message is for people. */
export class CarquetError extends Error {
  override readonly name = "CarquetError";
  readonly status: number;
  readonly code: CarquetErrorCode;
  /** Quote it to the operator of the service. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next request, if the API names them. */
  readonly retryAfter: number | undefined;

  constructor(response: Response, body: unknown) {
    const { error } = isErrorBody(body) ? body : { error: undefined };
    super(error?.message ?? `Unexpected response ${response.status}: expected a response of the Carquet API.`);
    this.status = response.status;
    this.code = error?.code ?? "unexpected_response";
    this.requestId = response.headers.get("X-Request-Id") ?? undefined;
    this.retryAfter = secondsIn(response);
  }
}

/** Returns the seconds of `Retry-After`; undefined without the header. */
export function secondsIn({ headers }: Response): number | undefined {
  const text = headers.get("Retry-After") ?? "";
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

interface ErrorBody {
  readonly error: { readonly code: CarquetErrorCode; readonly message: string };
}

/** Returns whether a body has the shape that all errors of the API share. Codes of a later release pass. */
function isErrorBody(body: unknown): body is ErrorBody {
  if (!isObject(body) || !isObject(body.error)) return false;
  return typeof body.error.code === "string" && typeof body.error.message === "string";
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

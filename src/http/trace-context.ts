/** Trace context of a request: the header `traceparent` of the W3C recommendation, version 00 and what later versions keep of it. */

export interface TraceContext {
  /** 32 hexadecimal characters. */
  readonly traceId: string;
  /** The caller's span: 16 hexadecimal characters. */
  readonly parentId: string;
}

const traceparent = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Returns the ids of a `traceparent`, or undefined if it is absent or invalid. */
export function parseTraceparent(header: string): TraceContext | undefined {
  const [, version, traceId, parentId, rest] = traceparent.exec(header) ?? [];
  if (traceId === undefined || parentId === undefined || (version === "00" && rest !== undefined)) return undefined;
  return { traceId, parentId };
}

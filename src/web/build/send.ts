/** Sends requests of operations on behalf of a visitor, within the process, and reads what comes back. */
import { Readable } from "node:stream";
import { isObject } from "../../base/json.ts";
import type { RequestContext } from "../../http/context.ts";
import type { InnerAnswer } from "../../http/inner-requests.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { Visitor } from "../shell/visitor.ts";
import { type OperationDocs, type OperationValues, requestPath, requestQuery } from "./operation-docs.ts";
import { bodyText } from "./samples.ts";

/** An answer as a page shows it. */
export interface SentAnswer {
  readonly status: number;
  /** JSON with a property a line; the size of what is no text. */
  readonly text: string;
  readonly isJson: boolean;
  /** The items of a list. */
  readonly rows: number | undefined;
  /** Undefined if nothing was charged. */
  readonly micros: number | undefined;
  /** The code of an error. */
  readonly code: string | undefined;
  /** Whether the text is cut. */
  readonly isCut: boolean;
}

/** The most bytes of an answer that are read, and the most that are shown. */
const readMax = 2 ** 21;
const shownMax = 60_000;

/** Returns the answer to a request of an operation. Throws Abandoned if the visitor has left. */
export function sendOperation(
  { sendRequest }: Pick<SiteServices, "sendRequest">,
  context: RequestContext,
  { identity }: Visitor,
  docs: OperationDocs,
  request: OperationValues,
): Promise<SentAnswer> {
  const { id, method } = docs.operation;
  const query = requestQuery(request);
  const headers = request.values.flatMap(([{ name, in: location }, text]) =>
    location === "header" ? [[name.toLowerCase(), text]] : [],
  );
  const inner = {
    operation: id,
    method: method.toUpperCase(),
    target: `${requestPath(docs, request)}${query === "" ? "" : `?${query}`}`,
    headers: { ...Object.fromEntries(headers), "content-type": "application/json" },
    body: request.body === undefined ? undefined : bodyText(request.body),
  };
  return sendRequest(context, identity, inner, answerOf);
}

async function answerOf({ status, header, body }: InnerAnswer): Promise<SentAnswer> {
  const { content, isWhole } = await readContent(body, readMax);
  const type = header("Content-Type");
  const json = isWhole && /\/json/.test(type) ? parsed(content) : undefined;
  const isText = /json|csv|text/.test(type) || content.length === 0;
  const text = json === undefined ? content.toString("utf8") : JSON.stringify(json, null, 2);
  const data = isObject(json) ? json.data : undefined;
  const error = isObject(json) && isObject(json.error) ? json.error : {};
  return {
    status,
    text: isText ? text.slice(0, shownMax) : `${Number(header("Content-Length")) || content.length} bytes of ${type}`,
    isJson: json !== undefined,
    rows: Array.isArray(data) ? data.length : countIn(header("X-Total-Count")),
    micros: microsOf(header),
    code: typeof error.code === "string" ? error.code : undefined,
    isCut: isText && (text.length > shownMax || !isWhole),
  };
}

const parsed = (content: Buffer): unknown => (content.length === 0 ? undefined : JSON.parse(content.toString("utf8")));

const countIn = (text: string): number | undefined => (text === "" ? undefined : Number(text));

/** Returns the charge of an answer; undefined if nothing was charged. */
export const microsOf = (header: InnerAnswer["header"]): number | undefined => countIn(header("X-Usage-Cost-Micros"));

/** Returns the message of a refusal, as the API answers it. */
export async function messageIn(body: unknown): Promise<string> {
  const { content } = await readContent(body, 2 ** 16);
  const { error } = Object(JSON.parse(content.toString("utf8")));
  return isObject(error) && typeof error.message === "string" ? error.message : "The request was not answered.";
}

/** Returns the first bytes of a body, and whether they are all. A stream is closed. */
async function readContent(body: unknown, bytesMax: number): Promise<{ content: Buffer; isWhole: boolean }> {
  if (Buffer.isBuffer(body)) return { content: body, isWhole: true };
  if (!(body instanceof Readable)) {
    const text = typeof body === "string" ? body : JSON.stringify(body ?? undefined);
    return { content: Buffer.from(text ?? ""), isWhole: true };
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    const piece = Buffer.from(chunk);
    chunks.push(piece);
    bytes += piece.length;
    if (bytes > bytesMax) return { content: Buffer.concat(chunks), isWhole: false };
  }
  return { content: Buffer.concat(chunks), isWhole: true };
}

/** The API requests of one page, and what they cost together. */
import type { MeteredId } from "../../accounts/policy/prices.ts";
import { operation } from "../../contract/document.ts";
import type { AnswerOf } from "../../contract/types.ts";
import type { AskOperation, OperationRequest } from "../../http/ask.ts";
import type { RequestContext } from "../../http/context.ts";
import type { Visitor } from "./visitor.ts";

/** The parameters of a request, as texts. */
export type TextParameters = Readonly<Record<string, string>>;

/** A request that has been answered and charged. */
export interface ChargedRequest {
  readonly path: string;
  readonly querystring: string;
  readonly requestId: string;
  readonly micros: number;
}

export class PageRequests {
  /** The answered requests by when they were made; those without an answer have no item. */
  private readonly answered: ChargedRequest[] = [];
  private made = 0;

  constructor(
    private readonly askOperation: AskOperation,
    private readonly context: RequestContext,
    private readonly visitor: Visitor,
  ) {}

  /** The answered requests, in the order in which they were made. */
  get charged(): readonly ChargedRequest[] {
    return this.answered.filter((request) => request !== undefined);
  }

  /** The price of the page. */
  get micros(): number {
    return this.charged.reduce((sum, { micros }) => sum + micros, 0);
  }

  /** Asks an operation as the visitor. Throws a Refusal, as the API refuses. */
  async ask<Id extends MeteredId>(id: Id, query: TextParameters, params: TextParameters = {}): Promise<AnswerOf<Id>> {
    const request = operationRequest(id, query, params);
    const index = this.made;
    this.made += 1;
    const { body, requestId, micros } = await this.askOperation(this.context, this.visitor.identity, request);
    this.answered[index] = { path: request.path, querystring: request.querystring, requestId, micros };
    return body;
  }
}

/** Returns a request as a client of the API sends it. */
export function operationRequest<Id extends MeteredId>(
  id: Id,
  query: TextParameters,
  params: TextParameters = {},
): OperationRequest<Id> {
  const path = operation(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return { id, path, params, querystring: queryString(query) };
}

/** Encodes parameters. Commas stay as they are, because they separate the values of lists. */
export const queryString = (query: TextParameters): string =>
  new URLSearchParams(query).toString().replaceAll("%2C", ",");

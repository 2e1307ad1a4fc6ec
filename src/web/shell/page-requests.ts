/** The API requests of one page, and what they cost together. */
import type { AnswerOf } from "../../contract/types.ts";
import type { AskOperation } from "../../http/ask.ts";
import type { RequestContext } from "../../http/context.ts";
import type { EndpointId } from "../../http/endpoints.ts";
import { operationRequest, type TextParameters } from "../../http/operation-request.ts";
import type { Visitor } from "./visitor.ts";

/** The most operations of a page in progress at once, as far as Node.js can warn. */
const operationsMost = 64;

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
  ) {
    context.req.setMaxListeners(operationsMost);
  }

  /** The answered requests, in the order in which they were made. */
  get charged(): readonly ChargedRequest[] {
    return this.answered.filter((request) => request !== undefined);
  }

  /** The price of the page. */
  get micros(): number {
    return this.charged.reduce((sum, { micros }) => sum + micros, 0);
  }

  /** Asks an operation as the visitor. Throws a Refusal, as the API refuses. */
  async ask<Id extends EndpointId>(id: Id, query: TextParameters, params: TextParameters = {}): Promise<AnswerOf<Id>> {
    const request = operationRequest(id, query, params);
    const index = this.made;
    this.made += 1;
    const { body, requestId, micros } = await this.askOperation(this.context, this.visitor.identity, request);
    this.answered[index] = { path: request.path, querystring: request.querystring, requestId, micros };
    return body;
  }
}

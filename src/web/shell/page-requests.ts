/** The API requests of one page, and what they cost together. */
import { setMaxListeners } from "node:events";
import type { AnswerOf } from "../../contract/types.ts";
import { Abandoned } from "../../db/job.ts";
import type { AskingCaller, AskOperation } from "../../http/ask.ts";
import { clientSignal } from "../../http/calls.ts";
import type { RequestContext } from "../../http/context.ts";
import { loggedRefusalOf } from "../../http/middleware/handle-errors.ts";
import { type EndpointId, operationRequest, type TextParameters } from "../../operations/operation-request.ts";
import type { Visitor } from "./visitor.ts";

/** The most operations of a page in progress at once, as far as Node.js can warn. */
const operationsMax = 64;

/** A request that has been answered and charged. */
export interface ChargedRequest {
  readonly path: string;
  readonly querystring: string;
  readonly requestId: string;
  readonly micros: number;
}

/** A part of a page that could not be asked for, and why. */
export interface MissingPart {
  readonly name: string;
  readonly reason: string;
}

export class PageRequests {
  /** The answered requests by when they were made; those without an answer have no item. */
  private readonly answered: ChargedRequest[] = [];
  private readonly missingParts: MissingPart[] = [];
  private readonly asking: AskingCaller;
  private made = 0;
  private lookUps = 0;

  constructor(
    private readonly askOperation: AskOperation,
    context: RequestContext,
    { identity }: Visitor,
  ) {
    const { requestId, arrivedAtMs, log } = context.state;
    const signal = clientSignal(context);
    setMaxListeners(operationsMax, signal);
    this.asking = { identity, arrivedAtMs, signal, page: { isCounted: false }, askedBy: requestId, log };
  }

  /** The answered requests, in the order in which they were made. */
  get charged(): readonly ChargedRequest[] {
    return this.answered.filter((request) => request !== undefined);
  }

  /** The first answered request of what the page shows, without those that only led to it. */
  get main(): ChargedRequest | undefined {
    return this.answered.slice(this.lookUps).find((request) => request !== undefined);
  }

  /** Says that the requests until now only led to what the page shows. */
  endLookUp(): void {
    this.lookUps = this.made;
  }

  /** The parts that `askPart` did without. */
  get missing(): readonly MissingPart[] {
    return this.missingParts;
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
    const { body, requestId, micros } = await this.askOperation(this.asking, request);
    this.answered[index] = { path: request.path, querystring: request.querystring, requestId, micros };
    return body;
  }

  /**
   * Asks for a part that a page can do without, once it has something to show: what has been charged is shown, whatever happens to its
   * other parts. Returns undefined for a part that is missing. Throws Abandoned if the client has disconnected.
   */
  async askPart<Part>(name: string, askFor: () => Promise<Part>): Promise<Part | undefined> {
    try {
      return await askFor();
    } catch (thrown) {
      if (thrown instanceof Abandoned) throw thrown;
      const { message: reason } = loggedRefusalOf(thrown, { requestId: this.asking.askedBy, log: this.asking.log });
      if (!this.missingParts.some((part) => part.name === name && part.reason === reason))
        this.missingParts.push({ name, reason });
      return undefined;
    }
  }
}

/** The API requests of one page, and their total cost. */
import { setMaxListeners } from "node:events";
import { errors, type Refusal } from "../../contract/errors.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { Abandoned } from "../../db/job.ts";
import { clientSignal, type RequestContext } from "../../http/context.ts";
import type { CallOperation, InternalCaller } from "../../http/internal-calls.ts";
import { loggedRefusalOf } from "../../http/middleware/handle-errors.ts";
import { type EndpointId, operationRequest, type TextParameters } from "../../operations/caller.ts";
import { docsPath } from "../build/operation-docs.ts";
import type { Visitor } from "./visitor.ts";

/** The most concurrent operations of a page before Node.js warns about listeners. */
const operationsMax = 64;

export interface ChargedRequest {
  readonly path: string;
  readonly querystring: string;
  /** The page of Build with the same request. */
  readonly buildPath: string;
  readonly requestId: string;
  readonly micros: number;
}

/** A part of a page that could not be loaded, and the reason. */
export interface MissingPart {
  readonly name: string;
  readonly reason: string;
}

export class PageRequests {
  /** The answered requests by their number in the page; unanswered ones have no item. */
  private readonly answered: ChargedRequest[] = [];
  private readonly missingParts: MissingPart[] = [];
  private readonly caller: InternalCaller;
  /** Whether a part was refused as invalid, by a value of the address. */
  hasInvalid = false;
  /** The first refusal of a part that the account cannot pay. */
  unpaid: Refusal | undefined;
  private sent = 0;
  private lookUps = 0;

  constructor(
    private readonly callOperation: CallOperation,
    context: RequestContext,
    { identity }: Visitor,
  ) {
    const { requestId, arrivedAtMs, log } = context.state;
    const signal = clientSignal(context);
    setMaxListeners(operationsMax, signal);
    this.caller = { identity, arrivedAtMs, signal, page: { isCounted: false }, parentRequestId: requestId, log };
  }

  /** The answered requests, in the order in which they were sent. */
  get charged(): readonly ChargedRequest[] {
    return this.answered.filter((request) => request !== undefined);
  }

  /** The first answered request after the look-ups. */
  get main(): ChargedRequest | undefined {
    return this.answered.slice(this.lookUps).find((request) => request !== undefined);
  }

  /** Marks the requests so far as look-ups that only led to the page's content. */
  endLookUp(): void {
    this.lookUps = this.sent;
  }

  /** The parts that `loadPart` could not load. */
  get missing(): readonly MissingPart[] {
    return this.missingParts;
  }

  get micros(): number {
    return this.charged.reduce((sum, { micros }) => sum + micros, 0);
  }

  /** Calls an operation as the visitor. Throws the Refusal of the API. */
  async call<Id extends EndpointId>(id: Id, query: TextParameters, params: TextParameters = {}): Promise<AnswerOf<Id>> {
    const request = operationRequest(id, query, params);
    const index = this.sent;
    this.sent += 1;
    const { body, requestId, micros } = await this.callOperation(this.caller, request);
    this.answered[index] = {
      path: request.path,
      querystring: request.querystring,
      buildPath: `${docsPath(id)}?${new URLSearchParams({ ...params, ...query })}`,
      requestId,
      micros,
    };
    return body;
  }

  /**
   * Loads an optional part of a page that already has content to show: what has been charged is shown even if other parts fail. Returns undefined
   * for a part that fails. Throws Abandoned if the client has disconnected, and what `isThrown`.
   */
  async loadPart<Part>(
    name: string,
    load: () => Promise<Part>,
    isThrown: (thrown: unknown) => boolean = () => false,
  ): Promise<Part | undefined> {
    try {
      return await load();
    } catch (thrown) {
      if (thrown instanceof Abandoned || isThrown(thrown)) throw thrown;
      const { parentRequestId: requestId, log } = this.caller;
      const refusal = loggedRefusalOf(thrown, { requestId, log });
      const { code, message: reason } = refusal;
      if (errors[code][0] === 400) this.hasInvalid = true;
      if (errors[code][0] === 402) this.unpaid ??= refusal;
      if (!this.missingParts.some((part) => part.name === name && part.reason === reason))
        this.missingParts.push({ name, reason });
      return undefined;
    }
  }
}

/** Operations of a lake without accounts: validated and computed as in the service, neither limited nor charged. */
import { decoderOf } from "../../contract/decode.ts";
import { refuse } from "../../contract/errors.ts";
import { Abandoned, Job } from "../../db/job.ts";
import { type Endpoint, endpoints } from "../../operations/endpoints.ts";
import { namedVersion } from "../../operations/named-version.ts";
import type { CalledId, OperationRequest } from "../../operations/operation-request.ts";
import { bodyOf } from "../../operations/result.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { AnswerBody } from "../compact-text.ts";

/** Calls an operation of the version in service. Throws the Refusal of the API, or Abandoned if the signal aborts. */
export async function callLakeOperation(
  current: CurrentVersion,
  request: OperationRequest,
  signal: AbortSignal,
): Promise<AnswerBody> {
  const { id } = request;
  if (id === "getUsage") throw refuse("not_found", { what: "account of this lake with operation", id });
  const job = new Job("");
  const onAbort = (): void => job.abort(new Abandoned("The call was cancelled."));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await job.race(answer(id, request, current, job));
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function answer<Id extends CalledId>(
  id: Id,
  { querystring, params = {} }: OperationRequest,
  current: CurrentVersion,
  job: Job,
): Promise<AnswerBody> {
  const endpoint: Endpoint<Id> = endpoints[id];
  const request = decoderOf(id)(querystring, params);
  return current.useNamed(namedVersion(request, undefined), async (version) =>
    bodyOf<Id>(await endpoint(request, version.withJob(job))),
  );
}

/**
 * The tool calls in progress, for the notification by which clients of 2025 cancel one. It arrives as a separate request, so that calls
 * are known by the session id that their client was given; later clients close the connection of a call instead. Nothing else of a
 * session is kept.
 */
export class CallsInProgress {
  private readonly calls = new Map<string, AbortController>();

  /** Remembers a call until the returned function is called. */
  add(key: string, call: AbortController): () => void {
    this.calls.set(key, call);
    return () => {
      if (this.calls.get(key) === call) this.calls.delete(key);
    };
  }

  /** Aborts a call, if it is in progress. */
  cancel(key: string, reason: Error): void {
    this.calls.get(key)?.abort(reason);
  }
}

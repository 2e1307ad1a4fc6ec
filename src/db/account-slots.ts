/**
 * Slots that accounts share. An account takes another one only while more are idle than it holds: alone it has half of them, at least
 * one, and another account finds one free.
 */
export class AccountSlots {
  private readonly held = new Map<string, number>();
  private takenCount = 0;

  constructor(private readonly max: number) {}

  heldBy(accountId: string): number {
    return this.held.get(accountId) ?? 0;
  }

  isFreeFor(accountId: string): boolean {
    return this.max - this.takenCount > this.heldBy(accountId);
  }

  /** Takes a slot, whether or not one is free. Returns a function that releases it, to be called once. */
  take(accountId: string): () => void {
    this.takenCount += 1;
    this.held.set(accountId, this.heldBy(accountId) + 1);
    return () => {
      this.takenCount -= 1;
      const left = this.heldBy(accountId) - 1;
      if (left > 0) this.held.set(accountId, left);
      else this.held.delete(accountId);
    };
  }
}

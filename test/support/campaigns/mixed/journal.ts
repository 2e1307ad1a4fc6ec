/** Journal of the answers of the mixed load: checks answers against the reference, and charges against the ledger. */
import assert from "node:assert/strict";
import { audit } from "../../../../src/accounts/ledger/audit.ts";
import { integerIn, textIn } from "../../../../src/base/json.ts";
import { sql } from "../../../../src/db/sql.ts";
import { type Customer, inAccountsFile } from "../../accounts.ts";
import type { CheckedRequest } from "./prepared-lake.ts";
import type { Reply } from "./send.ts";

export interface ClientIdentity<Role extends string = string> {
  readonly role: Role;
  readonly customer: Customer;
  /** Statuses of refusals that are right. */
  readonly refusals?: readonly number[];
}

/** Refusals under load, or while a fault lasts. */
export const refusalsUnderLoad: readonly number[] = [429, 503, 504];

/** The outcomes of the requests with one idempotency key. */
interface Repetitions {
  answered: number;
  charged: number;
}

/** What one account received. */
interface AccountRecord {
  readonly role: string;
  /** Micros by request id of all complete answers. */
  readonly charged: Map<string, number>;
  /** Request ids of complete responses that must not be charged. */
  readonly uncharged: string[];
  aborted: number;
  readonly repetitions: Map<string, Repetitions>;
}

/** Cursors depend on the bound that changes with each request. */
const withoutCursor = (answer: string): string => answer.replace(/"next_cursor":"[^"]*"/, '"next_cursor":""');

/** Problems of each kind that are kept as text; all are counted. */
const examplesMax = 5;

export class Journal {
  /** Responses by role and then by status and error code. */
  readonly counts: Record<string, Record<string, number>> = {};
  readonly problems: string[] = [];
  problemCount = 0;
  private readonly countsOfProblems = new Map<string, number>();
  rightAnswers = 0;
  wrongAnswers = 0;
  /** Right answers by the version that they name. */
  readonly answersOf = new Map<string, number>();
  private readonly accounts = new Map<string, AccountRecord>();

  /** `inService` returns the versions that may have answered a request that was sent at a time. `onProblem` gets each problem that is kept. */
  constructor(
    private readonly inService: (sentAtMs: number) => readonly string[],
    private readonly onProblem: (problem: string) => void = () => undefined,
  ) {}

  /** Counts a problem; keeps the first details of each kind. */
  addProblem(kind: string, details: string): void {
    this.problemCount += 1;
    const count = (this.countsOfProblems.get(kind) ?? 0) + 1;
    this.countsOfProblems.set(kind, count);
    if (count > examplesMax) return;
    this.problems.push(`${kind}: ${details}`);
    this.onProblem(`${kind}: ${details}`);
  }

  /** Records a response. */
  add(client: ClientIdentity, request: CheckedRequest, reply: Reply, idempotencyKey?: string): void {
    const { role, customer, refusals = refusalsUnderLoad } = client;
    this.count(role, `${reply.status}${reply.code === undefined ? "" : ` ${reply.code}`}`);
    const account = this.accountOf(role, customer);
    if (reply.status === "aborted") account.aborted += 1;
    else if (reply.status !== 200) {
      account.uncharged.push(reply.requestId);
      if (!refusals.includes(reply.status))
        this.addProblem(
          `unexpected status ${reply.status} to ${role}`,
          `${reply.path.slice(0, 200)}: ${reply.body.slice(0, 400)}`,
        );
    } else {
      if (reply.micros > 0) account.charged.set(reply.requestId, reply.micros);
      else account.uncharged.push(reply.requestId);
      if (reply.micros === 0 && idempotencyKey === undefined) this.addProblem("free answer", reply.path);
      if (idempotencyKey !== undefined) countRepetition(account, idempotencyKey, reply.micros);
      if (request.answers.size > 0) this.compare(request, reply);
    }
  }

  /** Counts an outcome of a role. */
  count(role: string, kind: string): void {
    const counts = this.counts[role] ?? {};
    this.counts[role] = { ...counts, [kind]: (counts[kind] ?? 0) + 1 };
  }

  /** Compares an answer with the reference of the version that it names. */
  private compare({ answers }: CheckedRequest, { path, body, version, sentAtMs }: Reply): void {
    const inService = this.inService(sentAtMs);
    const reference = answers.get(version);
    const expected = withoutCursor(reference ?? "");
    const found = withoutCursor(normalized(body));
    if (reference !== undefined && (body === reference || found === expected)) {
      this.rightAnswers += 1;
      this.answersOf.set(version, (this.answersOf.get(version) ?? 0) + 1);
      if (!inService.includes(version))
        this.addProblem("answer of a replaced version", `${path.slice(0, 120)} of ${version}`);
      return;
    }
    this.wrongAnswers += 1;
    const at = [...found].findIndex((character, index) => character !== expected[index]);
    const around = (text: string): string => text.slice(Math.max(0, at - 100), at + 200);
    this.addProblem(
      "wrong answer",
      `${path.slice(0, 120)} of ${version || "no version"} (in service: ${inService.join(", ")}): ${around(found)}, not ${around(expected)}`,
    );
  }

  private accountOf(role: string, { accountId }: Customer): AccountRecord {
    const known = this.accounts.get(accountId);
    if (known !== undefined) return known;
    const account = { role, charged: new Map(), uncharged: [], aborted: 0, repetitions: new Map() };
    this.accounts.set(accountId, account);
    return account;
  }

  /** Compares the ledger with the received answers. Returns the numbers of entries. */
  async auditCharges(path: string): Promise<LedgerSummary> {
    const ledger = await inAccountsFile(path, readLedger);
    for (const fault of ledger.faults) this.addProblem("audit", fault);
    const summary = { charges: ledger.charges.size, refunds: ledger.refunded.size, lost: 0, doubled: 0, unanswered: 0 };
    for (const [accountId, account] of this.accounts) {
      const paid = new Set([...ledger.charges.keys()].filter((id) => isPaidBy(ledger, id, accountId)));
      const lost = [...account.charged].filter(
        ([id, micros]) => !paid.delete(id) || ledger.charges.get(id)?.micros !== micros,
      );
      const wrong = account.uncharged.filter((id) => paid.delete(id));
      // The remaining requests were charged, and their clients did not receive the whole answer.
      const excess = Math.max(0, paid.size - account.aborted);
      summary.lost += lost.length;
      summary.doubled += wrong.length + excess;
      summary.unanswered += paid.size;
      for (const [id] of lost) this.addProblem("lost charge", `${id} of the ${account.role} client`);
      for (const id of wrong) this.addProblem("charge without an answer", `${id} of the ${account.role} client`);
      if (excess > 0) this.addProblem("charge without a request", `${excess} of the ${account.role} client`);
      summary.doubled += this.auditRepetitions(ledger, accountId, account);
    }
    return summary;
  }

  /** Returns the number of idempotency keys that were not charged exactly once. */
  private auditRepetitions(ledger: Ledger, accountId: string, { repetitions }: AccountRecord): number {
    let violations = 0;
    for (const [key, { answered, charged }] of repetitions) {
      const chargeId = ledger.chargeOfKey.get(`${accountId} ${key}`);
      const isPaid = chargeId !== undefined && isPaidBy(ledger, chargeId, accountId);
      if (charged <= 1 && isPaid) continue;
      violations += 1;
      this.addProblem(
        "repeated request",
        `${key} was answered ${answered} times and charged ${isPaid ? charged : "never"}`,
      );
    }
    return violations;
  }
}

function countRepetition({ repetitions }: AccountRecord, key: string, micros: number): void {
  const { answered, charged } = repetitions.get(key) ?? { answered: 0, charged: 0 };
  repetitions.set(key, { answered: answered + 1, charged: charged + Number(micros > 0) });
}

/** Returns a body with its numbers as references have them; an export, which is no JSON, as it came. */
function normalized(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}

interface Ledger {
  readonly faults: readonly string[];
  readonly charges: ReadonlyMap<string, { readonly accountId: string; readonly micros: number }>;
  readonly refunded: ReadonlySet<string>;
  /** Ids of charges by account and idempotency key. */
  readonly chargeOfKey: ReadonlyMap<string, string>;
}

export interface LedgerSummary {
  readonly charges: number;
  readonly refunds: number;
  /** Answers without a charge. */
  readonly lost: number;
  /** Charges without an answer that are not refunded, and second charges for one. */
  readonly doubled: number;
  /** Charges of requests whose clients left. */
  readonly unanswered: number;
}

async function readLedger(database: Parameters<Parameters<typeof inAccountsFile>[1]>[0]): Promise<Ledger> {
  const { faults } = await audit(database);
  const charges = await database.all(sql`SELECT entry_id, account_id, micros FROM entries WHERE kind = 'charge'`);
  const refunds = await database.all(sql`SELECT reference FROM entries WHERE reference LIKE 'refund_%'`);
  const keys = await database.all(sql`SELECT account_id, idempotency_key, charge_id FROM idempotency_keys`);
  assert.equal(new Set(charges.map((row) => textIn(row, "entry_id"))).size, charges.length);
  return {
    faults,
    charges: new Map(
      charges.map((row) => [
        textIn(row, "entry_id"),
        { accountId: textIn(row, "account_id"), micros: -integerIn(row, "micros") },
      ]),
    ),
    refunded: new Set(refunds.map((row) => textIn(row, "reference").slice("refund_".length))),
    chargeOfKey: new Map(
      keys.map((row) => [`${textIn(row, "account_id")} ${textIn(row, "idempotency_key")}`, textIn(row, "charge_id")]),
    ),
  };
}

/** Returns whether an account has paid a charge that is not refunded. */
const isPaidBy = ({ charges, refunded }: Ledger, chargeId: string, accountId: string): boolean =>
  charges.get(chargeId)?.accountId === accountId && !refunded.has(chargeId);

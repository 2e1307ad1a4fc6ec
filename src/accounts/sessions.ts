/**
 * Sessions of signed-in browsers. A cookie has 256 random bits; only its SHA-256 is kept. A session ends 12 hours after its last use, and
 * 30 days after its start.
 */
import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { SqliteDatabase } from "../db/sqlite.ts";
import type { Clock } from "./clock.ts";
import { createKey, scopes } from "./keys.ts";

export interface BrowserSession {
  readonly accountId: string;
  /** The key that the pages of the session are charged to. */
  readonly keyId: string;
  /** What forms of the session carry, so that other sites cannot submit them. */
  readonly csrfToken: string;
}

const [idleMs, absoluteMs] = [12 * 3_600_000, 30 * 86_400_000];
/** Older sessions than the last ones end. */
const sessionsMost = 10_000;

interface KeptSession extends BrowserSession {
  readonly createdAtMs: number;
  seenAtMs: number;
}

export class Sessions {
  private readonly bySha256 = new LRUCache<string, KeptSession>({ max: sessionsMost });

  constructor(
    private readonly path: string,
    private readonly clock: Clock,
  ) {}

  /** Starts a session of an account. Returns the value of its cookie. Throws a UserError if the account is unknown. */
  async create(accountId: string): Promise<string> {
    const [cookie, atMs] = [newSecret(), this.clock.wallMs()];
    const database = SqliteDatabase.open(this.path, { busyMs: 5_000 });
    try {
      const { keyId } = createKey(database, { accountId, scopes, atMs });
      this.bySha256.set(sha256Of(cookie), {
        ...{ accountId, keyId, csrfToken: newSecret() },
        ...{ createdAtMs: atMs, seenAtMs: atMs },
      });
    } finally {
      database.close();
    }
    return cookie;
  }

  /** Returns a session that has not ended. */
  async find(cookie: string): Promise<BrowserSession | undefined> {
    const session = this.bySha256.get(sha256Of(cookie));
    const atMs = this.clock.wallMs();
    if (session === undefined || atMs - session.seenAtMs > idleMs || atMs - session.createdAtMs > absoluteMs)
      return undefined;
    session.seenAtMs = atMs;
    return session;
  }

  /** Ends a session. Idempotent. */
  async end(cookie: string): Promise<void> {
    this.bySha256.delete(sha256Of(cookie));
  }
}

const newSecret = (): string => randomBytes(32).toString("base64url");

const sha256Of = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Writes to the accounts file for pages, by name: changes, which the audit log records, and sessions. They run on the administration's worker. */
import { UserError } from "../../base/user-error.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { type KeyUses, recordKeyUses } from "../keys.ts";
import {
  consumeState,
  deleteState,
  deleteStateOfGrant,
  extendState,
  type OAuthState,
  purgeOAuthState,
  type StateName,
  saveState,
} from "../oauth/oauth-state.ts";
import { type OneTimeLink, useLink } from "../sign-in/one-time-links.ts";
import { endSession, insertSession, purgeSessions, touchSession } from "../sign-in/session-table.ts";
import type { Author } from "./audit-log.ts";
import { type ChangeInput, type ChangeName, type ChangeOutput, makeChange } from "./changes.ts";

/** A change of an account with its author. */
export type ChangeRequest = {
  readonly [Name in ChangeName]: {
    readonly name: Name;
    readonly input: ChangeInput<Name>;
    readonly author: Author;
  };
}[ChangeName];

interface OfSession {
  readonly sha256: string;
  readonly atMs: number;
}

/** The use of a one-time link: the hash of its secret, and for an invitation that of the new password. */
interface LinkUse {
  readonly sha256: string;
  readonly passwordHash: string | null;
  readonly atMs: number;
}

/** State of the authorization server, and the client that uses it. */
interface NewOAuthState {
  readonly state: OAuthState;
  readonly client?: StateName & { readonly untilMs: number };
}

const updates = {
  change: (database: SqlDatabase, { name, input, author }: ChangeRequest): ChangeOutput<ChangeName> =>
    makeChange(database, name, input, author),
  startSession: (database: SqlDatabase, session: OfSession & { readonly accountId: string }): null => {
    insertSession(database, session);
    return null;
  },
  touchSession: (database: SqlDatabase, { sha256, atMs }: OfSession): null => {
    touchSession(database, sha256, atMs);
    return null;
  },
  endSession: (database: SqlDatabase, { sha256 }: Pick<OfSession, "sha256">): null => {
    endSession(database, sha256);
    return null;
  },
  /** Uses a sign-in link, or an invitation with the hash of the new password; null if it does not work any more. */
  useLink: (database: SqlDatabase, { sha256, passwordHash, atMs }: LinkUse): OneTimeLink | null => {
    const link = useLink(database, sha256, passwordHash === null ? "sign_in" : "invitation", atMs);
    if (link === null || passwordHash === null) return link;
    const { accountId } = link;
    makeChange(database, "accounts password", { accountId, hash: passwordHash }, { actor: accountId, atMs });
    return link;
  },
  recordKeyUses: (database: SqlDatabase, { uses }: { readonly uses: KeyUses }): null => {
    recordKeyUses(database, uses);
    return null;
  },
  /** Deletes the sessions, one-time links and OAuth state that have expired. */
  purgeExpired: (database: SqlDatabase, { atMs }: { readonly atMs: number }): null => {
    purgeSessions(database, atMs);
    purgeOAuthState(database, atMs);
    return null;
  },
  /** Saves state of the authorization server; keeps the client that it belongs to until a time, if one is given. */
  saveOAuthState: (database: SqlDatabase, { state, client }: NewOAuthState): null => {
    saveState(database, state);
    if (client !== undefined) extendState(database, client, client.untilMs);
    return null;
  },
  consumeOAuthState: (database: SqlDatabase, { atMs, ...name }: StateName & { readonly atMs: number }): boolean =>
    consumeState(database, name, atMs),
  deleteOAuthState: (database: SqlDatabase, name: StateName): null => {
    deleteState(database, name);
    return null;
  },
  deleteOAuthStateOfGrant: (
    database: SqlDatabase,
    { kind, keyId }: { readonly kind: string; readonly keyId: string },
  ): null => {
    deleteStateOfGrant(database, kind, keyId);
    return null;
  },
};

type UpdateTable = typeof updates;
export type UpdateName = keyof UpdateTable;
export type UpdateInput<Name extends UpdateName> = Parameters<UpdateTable[Name]>[1];
export type UpdateOutput<Name extends UpdateName> = ReturnType<UpdateTable[Name]>;

export type UpdateRequest = {
  readonly [Name in UpdateName]: { readonly name: Name; readonly input: UpdateInput<Name> };
}[UpdateName];

/** The output of an update, or the message of the UserError that it threw. */
export type UpdateOutcome = { readonly output: UpdateOutput<UpdateName> } | { readonly refusal: string };

/** Runs an update in a transaction. A UserError rolls it back, and nothing else of the batch. */
export function runUpdate(database: SqlDatabase, { name, input }: UpdateRequest): UpdateOutcome {
  // The input belongs to the name; the compiler loses this when it looks the update up.
  const update = updates[name] as (database: SqlDatabase, input: unknown) => UpdateOutput<UpdateName>;
  try {
    return { output: database.transaction(() => update(database, input)) };
  } catch (thrown) {
    if (thrown instanceof UserError) return { refusal: thrown.message };
    throw thrown;
  }
}

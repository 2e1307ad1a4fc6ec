/** `carquet keys`: the keys of accounts. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { type ApiScope, createKey, listKeys, revokeKey, scopes } from "../../../accounts/keys.ts";
import { printCreated, printRows, timeOf, withAccounts } from "../../accounts-file.ts";
import { accountOption, withAccountsOption } from "./accounts.ts";

interface Given {
  readonly accounts: string;
  readonly json: boolean;
}

interface One extends Given {
  readonly account: string;
}

export const keysCommand = (): Command =>
  new Command("keys")
    .description(
      "Makes and revokes keys. All keys of an account share its balance, its spend cap and its rate limits. The secret is shown once, " +
        "by create; only a hash of it is kept. A running service takes a new or revoked key up within a second.",
    )
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke());

const create = (): Command =>
  withAccountsOption("create", "make a key, and print it: it cannot be shown again")
    .addOption(accountOption())
    .addOption(
      new Option("--scopes <list>", `what it is for, of ${scopes.join(", ")}; all of them unless given`)
        .default(scopes, scopes.join())
        .argParser(scopeList),
    )
    .action(({ accounts, json, account, scopes: granted }: One & { readonly scopes: readonly ApiScope[] }) => {
      const made = withAccounts(accounts, (database) =>
        createKey(database, { accountId: account, scopes: granted, atMs: Date.now() }),
      );
      printCreated({ key: made.key, key_id: made.keyId }, made.key, json);
    });

const list = (): Command =>
  withAccountsOption("list", "the keys of an account, revoked ones too, without their secrets")
    .addOption(accountOption())
    .action(({ accounts, json, account }: One) => {
      const keys = withAccounts(accounts, (database) => listKeys(database, account));
      const rows = keys.map(({ keyId, scopes: granted, createdAtMs, revokedAtMs }) => ({
        key_id: keyId,
        scopes: granted.join(),
        created_at: timeOf(createdAtMs),
        revoked_at: revokedAtMs === null ? null : timeOf(revokedAtMs),
      }));
      printRows(rows, json);
    });

const revoke = (): Command =>
  withAccountsOption("revoke", "revoke a key, for good")
    .addArgument(new Argument("<key-id>", "the key's id, not the key"))
    .action((keyId: string, { accounts, json }: Given) => {
      withAccounts(accounts, (database) => revokeKey(database, keyId, Date.now()));
      printCreated({ key_id: keyId, revoked: true }, `${keyId} is revoked`, json);
    });

function scopeList(text: string): readonly ApiScope[] {
  const named = text.split(",").map((word) => word.trim());
  const found = scopes.filter((scope) => named.includes(scope));
  if (found.length === new Set(named).size) return found;
  throw new InvalidArgumentError(`allowed is a list of ${scopes.join(", ")}.`);
}

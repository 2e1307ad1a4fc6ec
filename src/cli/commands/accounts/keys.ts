/** `carquet keys`: creates, lists and revokes API keys. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { type ApiScope, createKey, defaultScopes, listKeys, revokeKey, scopes } from "../../../accounts/keys.ts";
import {
  type AccountsFileSettings,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
} from "../../accounts-file.ts";
import { accountOption, accountsFileCommand } from "./accounts.ts";

interface AccountSettings extends AccountsFileSettings {
  readonly account: string;
}

export const keysCommand = (): Command =>
  new Command("keys")
    .description(
      "Create and revoke API keys. All keys of an account share its balance, spend cap and rate limits. Only `create` shows the secret; " +
        "the file stores a hash of it. Changes take effect in a running service within a second.",
    )
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke());

const create = (): Command =>
  accountsFileCommand("create", "create a key and print it; it cannot be shown again")
    .addOption(accountOption())
    .addOption(
      new Option("--scopes <list>", `scopes of the key, separated by commas: ${scopes.join()}`)
        .default(defaultScopes, defaultScopes.join())
        .argParser(scopesParser),
    )
    .action(
      ({
        accounts,
        json,
        account,
        scopes: grantedScopes,
      }: AccountSettings & { readonly scopes: readonly ApiScope[] }) => {
        const { key, keyId } = withAccountsFile(accounts, (database) =>
          createKey(database, { accountId: account, scopes: grantedScopes, atMs: Date.now() }),
        );
        printResult({ key, key_id: keyId }, key, json);
      },
    );

const list = (): Command =>
  accountsFileCommand("list", "list the keys of an account without their secrets, including revoked ones")
    .addOption(accountOption())
    .action(({ accounts, json, account }: AccountSettings) => {
      const keys = withAccountsFile(accounts, (database) => listKeys(database, account));
      const rows = keys.map(({ keyId, scopes: grantedScopes, createdAtMs, revokedAtMs }) => ({
        key_id: keyId,
        scopes: grantedScopes.join(),
        created_at: formatTime(createdAtMs),
        revoked_at: revokedAtMs === null ? null : formatTime(revokedAtMs),
      }));
      printRows(rows, json);
    });

const revoke = (): Command =>
  accountsFileCommand("revoke", "revoke a key permanently")
    .addArgument(new Argument("<key-id>", "id of the key, not the key itself"))
    .action((keyId: string, { accounts, json }: AccountsFileSettings) => {
      withAccountsFile(accounts, (database) => revokeKey(database, keyId, Date.now()));
      printResult({ key_id: keyId, revoked: true }, `${keyId} is now revoked`, json);
    });

function scopesParser(text: string): readonly ApiScope[] {
  const names = text.split(",").map((name) => name.trim());
  const known = scopes.filter((scope) => names.includes(scope));
  if (known.length === new Set(names).size) return known;
  throw new InvalidArgumentError(`Expected a list of ${scopes.join(", ")}.`);
}

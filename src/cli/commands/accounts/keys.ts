/** `carquet keys`: creates, lists and revokes API keys. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { makeChange } from "../../../accounts/administration/changes.ts";
import {
  type ApiScope,
  defaultScopes,
  isKeyLabel,
  keyLabelRule,
  listKeys,
  scopes,
} from "../../../accounts/keys/keys.ts";
import {
  type AccountsFileSettings,
  commandAuthor,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
} from "../../accounts-file.ts";
import { accountOption, accountsFileCommand } from "./accounts.ts";

interface AccountSettings extends AccountsFileSettings {
  readonly account: string;
}

interface NewKeySettings extends AccountSettings {
  readonly scopes: readonly ApiScope[];
  readonly name: string;
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
    .addOption(new Option("--name <text>", "what the key is for").default("").argParser(nameParser))
    .action(({ accounts, json, account, scopes: grantedScopes, name }: NewKeySettings) => {
      const input = { accountId: account, scopes: grantedScopes, name };
      const { key, keyId } = withAccountsFile(accounts, (database) =>
        makeChange(database, "keys create", input, commandAuthor()),
      );
      printResult({ key, key_id: keyId }, key, json);
    });

const list = (): Command =>
  accountsFileCommand("list", "list the keys of an account without their secrets, including revoked ones")
    .addOption(accountOption())
    .action(({ accounts, json, account }: AccountSettings) => {
      const keys = withAccountsFile(accounts, (database) => listKeys(database, account));
      const time = (atMs: number | null): string | null => (atMs === null ? null : formatTime(atMs));
      const rows = keys.map((key) => ({
        key_id: key.keyId,
        scopes: key.scopes.join(),
        created_at: time(key.createdAtMs),
        revoked_at: time(key.revokedAtMs),
        last_used_at: time(key.lastUsedAtMs),
        name: key.name,
      }));
      printRows(rows, json);
    });

const revoke = (): Command =>
  accountsFileCommand("revoke", "revoke a key permanently")
    .addArgument(new Argument("<key-id>", "id of the key, not the key itself"))
    .action((keyId: string, { accounts, json }: AccountsFileSettings) => {
      withAccountsFile(accounts, (database) => makeChange(database, "keys revoke", { keyId }, commandAuthor()));
      printResult({ key_id: keyId, revoked: true }, `${keyId} is now revoked`, json);
    });

function nameParser(text: string): string {
  if (isKeyLabel(text)) return text;
  throw new InvalidArgumentError(`Expected ${keyLabelRule}.`);
}

function scopesParser(text: string): readonly ApiScope[] {
  const names = text.split(",").map((name) => name.trim());
  const known = scopes.filter((scope) => names.includes(scope));
  if (known.length === new Set(names).size) return known;
  throw new InvalidArgumentError(`Expected a list of ${scopes.join(", ")}.`);
}

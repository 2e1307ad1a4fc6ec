/** `carquet keys`: creates, lists and revokes API keys. */
import { Argument, Command, InvalidArgumentError } from "commander";
import { applyChange } from "../../../accounts/administration/changes.ts";
import {
  type ApiScope,
  defaultScopes,
  isKeyLabel,
  keyLabelRule,
  listKeys,
  scopes,
} from "../../../accounts/keys/keys.ts";
import {
  type AccountsFileValues,
  type AccountValues,
  commandAuthor,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
} from "../../accounts-file.ts";
import type { SettingRows, ValuesOf } from "../../settings.ts";
import { accountCommand, accountsFileCommand } from "./accounts.ts";

export const keysCommand = (): Command =>
  new Command("keys")
    .description(
      "Create and revoke API keys. All keys of an account share its balance, spend cap and rate limits. Only `create` shows the secret; " +
        "the file stores a hash of it. Changes take effect in a running service within a second.",
    )
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke());

// biome-ignore format: a table is read by its columns
const keySettings = {
  scopes: { flags: "--scopes <list>", default: defaultScopes, shownDefault: defaultScopes.join(), parse: scopesParser,
    help: `scopes of the key, separated by commas: ${scopes.join()}` },
  name: { flags: "--name <text>", default: "", parse: nameParser, help: "what the key is for" },
} as const satisfies SettingRows;

const create = (): Command =>
  accountCommand("create", "create a key and print it; it cannot be shown again", keySettings).action(
    ({ accounts, json, account, ...settings }: AccountValues & ValuesOf<typeof keySettings>) => {
      const input = { accountId: account, scopes: settings.scopes, name: settings.name };
      const { key, keyId } = withAccountsFile(accounts, (database) =>
        applyChange(database, "keys create", input, commandAuthor()),
      );
      printResult({ key, key_id: keyId }, key, json);
    },
  );

const list = (): Command =>
  accountCommand("list", "list the keys of an account without their secrets, including revoked ones").action(
    ({ accounts, json, account }: AccountValues) => {
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
    },
  );

const revoke = (): Command =>
  accountsFileCommand("revoke", "revoke a key permanently")
    .addArgument(new Argument("<key-id>", "id of the key, not the key itself"))
    .action((keyId: string, { accounts, json }: AccountsFileValues) => {
      withAccountsFile(accounts, (database) => applyChange(database, "keys revoke", { keyId }, commandAuthor()));
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

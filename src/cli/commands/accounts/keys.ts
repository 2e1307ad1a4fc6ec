/** `carquet keys`: creates, lists and revokes API keys. */
import { Command } from "commander";
import { listKeys } from "../../../accounts/keys/keys.ts";
import { type AccountValues, formatTime, printRows, withAccountsFile } from "../../accounts-file.ts";
import { accountCommand, changeCommand } from "./change-command.ts";

export const keysCommand = (): Command =>
  new Command("keys")
    .description(
      "Create and revoke API keys. All keys of an account share its balance, spend cap and rate limits. Only `create` shows the secret; " +
        "the file stores a hash of it. Changes take effect in a running service within a second.",
    )
    .addCommand(changeCommand("keys create"))
    .addCommand(list())
    .addCommand(changeCommand("keys revoke"));

const list = (): Command =>
  accountCommand("list", "list the keys of an account without their secrets, including revoked ones").action(
    async ({ accounts, json, account }: AccountValues) => {
      const keys = await withAccountsFile(accounts, (database) => listKeys(database, account));
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

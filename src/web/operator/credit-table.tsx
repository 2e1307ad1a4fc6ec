/** Credits and keys of an account in the operator's view, with the forms that confirm, reverse and revoke them. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import { integerIn, type Row } from "../../base/json.ts";
import { Block, DataTable } from "../shell/blocks.tsx";
import { signedAmount, text, time } from "../shell/format.ts";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface OfAccountProps {
  readonly account: Account;
  readonly visitor: Visitor;
}

interface CreditTableProps extends OfAccountProps {
  /** As `listEntries` returns them. */
  readonly credits: readonly Row[];
}

export const CreditTable = ({ credits, ...props }: CreditTableProps): JSX.Element => (
  <Block id="credits" title="Credits and adjustments">
    <DataTable
      label="Credits and adjustments"
      columns={["Time", "Kind", "Reference and note", "#USD", "Payment"]}
      rows={credits
        .toReversed()
        .map((credit) => [
          time(integerIn(credit, "at_ms")),
          String(credit.kind).replaceAll("_", " "),
          text([credit.reference, credit.note].filter((part) => part !== null).join(", ")),
          signedAmount(integerIn(credit, "micros")),
          <Payment credit={credit} {...props} />,
        ])}
    />
    <code class="cmd">{"carquet credits confirm <credit-id>"}</code>
    <code class="cmd">{"carquet credits reverse <credit-id>"}</code>
  </Block>
);

/** The status of a paid credit, with the forms that confirm or reverse it. */
const Payment = ({ credit, account, visitor }: OfAccountProps & { readonly credit: Row }): JSX.Element | null => {
  if (credit.kind !== "paid") return null;
  if (credit.reversed_at_ms !== null) return <span class="muted">reversed</span>;
  const action = `/operator/accounts/${account.accountId}`;
  const id = String(credit.entry_id);
  return (
    <div class="inline">
      {credit.confirmed_at_ms !== null ? (
        <span class="muted">confirmed</span>
      ) : (
        <Form visitor={visitor} action={`${action}/confirmation`}>
          <button type="submit" name="credit" value={id}>
            Confirm
          </button>
        </Form>
      )}
      <a href={`${action}/reversal?credit=${id}`}>Reverse…</a>
    </div>
  );
};

interface KeyTableProps extends Pick<OfAccountProps, "account"> {
  readonly keys: readonly UsedKey[];
}

export const OperatorKeyTable = ({ keys, account }: KeyTableProps): JSX.Element => (
  <Block id="keys" title="Keys">
    <DataTable
      label="Keys"
      columns={["Name", "Id", "Scopes", "Last used", "Revoke"]}
      rows={keys
        .toReversed()
        .map(({ keyId, name, scopes, lastUsedAtMs, revokedAtMs }) => [
          text(name),
          <code>{keyId}</code>,
          scopes.join(", "),
          lastUsedAtMs === null ? "never" : time(lastUsedAtMs),
          revokedAtMs !== null ? (
            <span class="muted">revoked</span>
          ) : (
            <a href={`/operator/accounts/${account.accountId}/key-revocation?key=${keyId}`}>Revoke…</a>
          ),
        ])}
    />
    <code class="cmd">{"carquet keys revoke <key-id>"}</code>
  </Block>
);

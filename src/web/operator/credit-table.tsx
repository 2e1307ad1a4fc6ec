/** Credits and adjustments of an account in the operator's view, with the forms that confirm and reverse them. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { integerIn, type Row } from "../../base/json.ts";
import { Block, DataTable } from "../shell/blocks.tsx";
import { signedAmount, text, time } from "../shell/format.ts";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface CreditTableProps {
  /** As `listEntries` returns them. */
  readonly credits: readonly Row[];
  readonly account: Account;
  readonly visitor: Visitor;
}

export const CreditTable = ({ credits, ...props }: CreditTableProps): JSX.Element => (
  <Block id="credits" title="Credits and adjustments">
    <DataTable
      label="Credits and adjustments"
      columns={["@UTC", "Kind", "Reference and note", "#USD", "Payment"]}
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
const Payment = ({
  credit,
  account,
  visitor,
}: Omit<CreditTableProps, "credits"> & { readonly credit: Row }): JSX.Element | null => {
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

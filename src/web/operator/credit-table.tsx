/** Credits and keys of an account in the operator's view, with the forms that confirm, reverse and revoke them. */
import type { ComponentChildren, JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import { integerIn, type Row } from "../../base/json.ts";
import { ScrollingTable } from "../account/dashboard-page.tsx";
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
  <section class="block" aria-labelledby="credits">
    <h2 id="credits">Credits and adjustments</h2>
    <ScrollingTable label="Credits and adjustments">
      <thead>
        <tr>
          <th>Time</th>
          <th>Kind</th>
          <th>Reference and note</th>
          <th class="num">USD</th>
          <th>Payment</th>
        </tr>
      </thead>
      <tbody>
        {credits.toReversed().map((credit) => (
          <tr key={String(credit.entry_id)}>
            <td class="time">{time(integerIn(credit, "at_ms"))}</td>
            <td>{String(credit.kind).replaceAll("_", " ")}</td>
            <td>{text([credit.reference, credit.note].filter((part) => part !== null).join(", "))}</td>
            <td class="num">{signedAmount(integerIn(credit, "micros"))}</td>
            <td>
              <Payment credit={credit} {...props} />
            </td>
          </tr>
        ))}
      </tbody>
    </ScrollingTable>
  </section>
);

/** The state of a paid credit, with the forms that confirm or reverse it. */
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
      <Danger name="Reverse">
        <Form visitor={visitor} action={`${action}/reversal`}>
          <button type="submit" name="credit" value={id} class="danger">
            Reverse for good
          </button>
        </Form>
      </Danger>
    </div>
  );
};

export const OperatorKeyTable = ({ keys, ...props }: OfAccountProps & { readonly keys: readonly UsedKey[] }) => (
  <section class="block" aria-labelledby="keys">
    <h2 id="keys">Keys</h2>
    <ScrollingTable label="Keys">
      <thead>
        <tr>
          <th>Name</th>
          <th>Id</th>
          <th>Scopes</th>
          <th>Last used</th>
          <th>Revoke</th>
        </tr>
      </thead>
      <tbody>
        {keys.toReversed().map((key) => (
          <KeyRevocationRow key={key.keyId} apiKey={key} {...props} />
        ))}
      </tbody>
    </ScrollingTable>
  </section>
);

const KeyRevocationRow = ({
  apiKey: key,
  account,
  visitor,
}: OfAccountProps & { readonly apiKey: UsedKey }): JSX.Element => (
  <tr>
    <td>{text(key.name)}</td>
    <td>
      <code>{key.keyId}</code>
    </td>
    <td>{key.scopes.join(", ")}</td>
    <td class="time">{key.lastUsedAtMs === null ? "never" : time(key.lastUsedAtMs)}</td>
    <td>
      {key.revokedAtMs !== null ? (
        <span class="muted">revoked</span>
      ) : (
        <Danger name="Revoke">
          <Form visitor={visitor} action={`/operator/accounts/${account.accountId}/key-revocation`}>
            <button type="submit" name="key" value={key.keyId} class="danger">
              Revoke for good
            </button>
          </Form>
        </Danger>
      )}
    </td>
  </tr>
);

interface DangerProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Shows a button that cannot be undone after a first click. */
const Danger = ({ name, children }: DangerProps): JSX.Element => (
  <details>
    <summary>{name}</summary>
    {children}
  </details>
);

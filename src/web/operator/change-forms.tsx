/** The forms with which an operator changes an account. */
import type { ComponentChildren, JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { creditKinds } from "../../accounts/ledger/ledger.ts";
import { randomId } from "../../base/random-ids.ts";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface ChangeFormsProps {
  readonly account: Account;
  readonly visitor: Visitor;
}

export const ChangeForms = (props: ChangeFormsProps): JSX.Element => (
  <section class="block" aria-labelledby="changes">
    <h2 id="changes">Change</h2>
    <div class="change-forms">
      <MoneyForms {...props} />
      <LimitForms {...props} />
      <StateForms {...props} />
    </div>
  </section>
);

interface ChangeFormProps extends ChangeFormsProps {
  readonly form: string;
  readonly children: ComponentChildren;
}

const ChangeForm = ({ account, visitor, form, children }: ChangeFormProps): JSX.Element => (
  <Form visitor={visitor} action={`/operator/accounts/${account.accountId}/${form}`} class="inline">
    {children}
  </Form>
);

const usdOf = (micros: number | null): string => (micros === null ? "" : String(micros / 1_000_000));

/** Returns the reference of a form. It is unique, so that a form which is sent twice is posted once. */
const newReference = (): string => `form_${randomId(16)}`;

const MoneyForms = (props: ChangeFormsProps): JSX.Element => (
  <>
    <ChangeForm {...props} form="credit">
      <label>
        Credit, USD
        <input type="text" name="usd" inputMode="decimal" required />
      </label>
      <label>
        Kind
        <select name="kind">
          {creditKinds.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </select>
      </label>
      <label>
        Reference
        <input type="text" name="reference" maxLength={200} value={newReference()} required />
      </label>
      <label class="check">
        <input type="checkbox" name="confirmed" checked /> Confirmed
      </label>
      <button type="submit">Add the credit</button>
    </ChangeForm>
    <ChangeForm {...props} form="adjustment">
      <input type="hidden" name="reference" value={newReference()} />
      <label>
        Adjustment, USD
        <input type="text" name="usd" inputMode="text" placeholder="-1.50" required />
      </label>
      <label>
        Reason
        <input class="wide" type="text" name="note" maxLength={500} />
      </label>
      <button type="submit">Adjust the balance</button>
    </ChangeForm>
  </>
);

const LimitForms = ({ account, visitor }: ChangeFormsProps): JSX.Element => (
  <>
    <ChangeForm account={account} visitor={visitor} form="rate-limit">
      <label>
        Requests in 10 s
        <input type="text" name="per10s" inputMode="numeric" value={account.rateLimitOverride?.per10s ?? ""} />
      </label>
      <label>
        Requests in 60 s
        <input type="text" name="per60s" inputMode="numeric" value={account.rateLimitOverride?.per60s ?? ""} />
      </label>
      <button type="submit">Override the limits</button>
    </ChangeForm>
    <ChangeForm account={account} visitor={visitor} form="cap">
      <label>
        Spend cap, USD a month
        <input type="text" name="cap" inputMode="decimal" value={usdOf(account.capMicros)} />
      </label>
      <button type="submit">Set the cap</button>
    </ChangeForm>
    <ChangeForm account={account} visitor={visitor} form="low-balance">
      <label>
        Low balance, USD
        <input type="text" name="usd" inputMode="decimal" value={usdOf(account.lowBalanceMicros)} required />
      </label>
      <button type="submit">Set the bound</button>
    </ChangeForm>
  </>
);

const StateForms = ({ account, visitor }: ChangeFormsProps): JSX.Element => (
  <>
    <ChangeForm account={account} visitor={visitor} form="state">
      {account.state === "active" ? (
        <button type="submit" name="state" value="suspended" class="danger">
          Suspend the account
        </button>
      ) : (
        <button type="submit" name="state" value="active">
          Reactivate the account
        </button>
      )}
    </ChangeForm>
    <ChangeForm account={account} visitor={visitor} form="operator">
      <button type="submit" name="operator" value={account.isOperator ? "off" : "on"}>
        {account.isOperator ? "Take the operator's view away" : "Give the operator's view"}
      </button>
    </ChangeForm>
    <ChangeForm account={account} visitor={visitor} form="invite">
      <button type="submit">Create an invitation</button>
      <button type="submit" name="kind" value="sign_in">
        Create a sign-in link
      </button>
    </ChangeForm>
  </>
);

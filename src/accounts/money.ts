/** Money is whole micros of a US dollar, 1000000 to the dollar. Nothing ever holds a fraction of one. */

const microsPerUsd = 1_000_000;

/** Reads an amount in USD, such as `25`, `0.002` or `-3.50`; undefined when it is none, or more than 999999 USD. */
export function microsIn(usd: string): number | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)(\d{1,6})(?:\.(\d{1,6}))?$/.exec(usd) ?? [];
  if (whole === undefined) return undefined;
  const micros = Number(whole) * microsPerUsd + Number(fraction.padEnd(6, "0"));
  return sign === "-" && micros !== 0 ? -micros : micros;
}

/** An amount in USD with at least its cents: `25.00`, `0.002`, `-3.50`. */
export function usdOf(micros: number): string {
  const size = Math.abs(micros);
  const fraction = String(size % microsPerUsd).padStart(6, "0");
  const cents = `${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, "")}`;
  return `${micros < 0 ? "-" : ""}${Math.floor(size / microsPerUsd)}.${cents}`;
}

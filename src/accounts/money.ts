/** Money as integer micros, millionths of a US dollar: parses and formats amounts. No amount is ever fractional. */

const microsPerUsd = 1_000_000;

/** Parses an amount in USD, such as `25`, `0.002` or `-3.50`, to micros. Returns undefined if it is malformed or above 999999.999999. */
export function parseUsd(text: string): number | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)(\d{1,6})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const micros = Number(whole) * microsPerUsd + Number(fraction.padEnd(6, "0"));
  return sign === "-" && micros !== 0 ? -micros : micros;
}

/** Formats micros as USD with two to six decimals: `25.00`, `0.002`, `-3.50`. */
export function formatUsd(micros: number): string {
  const magnitude = Math.abs(micros);
  const fraction = String(magnitude % microsPerUsd).padStart(6, "0");
  const decimals = `${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, "")}`;
  return `${micros < 0 ? "-" : ""}${Math.floor(magnitude / microsPerUsd)}.${decimals}`;
}

/** A decoder of VINs after 49 CFR 565.15, that shares nothing with the one which writes them. */

const transliterated: Readonly<Record<string, number>> = {
  ...Object.fromEntries([..."ABCDEFGH"].map((letter, index) => [letter, index + 1])),
  ...Object.fromEntries([..."JKLMN"].map((letter, index) => [letter, index + 1])),
  ...{ P: 7, R: 9 },
  ...Object.fromEntries([..."STUVWXYZ"].map((letter, index) => [letter, index + 2])),
};
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** The check digit that a VIN ought to have. */
export function checkDigit(vin: string): string {
  const sum = [...vin].reduce(
    (total, sign, place) => total + (transliterated[sign] ?? Number(sign)) * (weights[place] ?? 0),
    0,
  );
  return sum % 11 === 10 ? "X" : String(sum % 11);
}

/** The model year of a VIN: its tenth place, from 2010 on where the seventh is a letter, else before. */
export function modelYear(vin: string): number {
  const codes = "ABCDEFGHJKLMNPRSTVWXY123456789";
  return (/[A-Z]/.test(vin[6] ?? "") ? 2010 : 1980) + codes.indexOf(vin[9] ?? "");
}

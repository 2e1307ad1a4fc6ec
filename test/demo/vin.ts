/** VIN decoder after 49 CFR 565.15. Shares no code with the generator. */

const transliteration: Readonly<Record<string, number>> = {
  ...Object.fromEntries([..."ABCDEFGH"].map((letter, index) => [letter, index + 1])),
  ...Object.fromEntries([..."JKLMN"].map((letter, index) => [letter, index + 1])),
  P: 7,
  R: 9,
  ...Object.fromEntries([..."STUVWXYZ"].map((letter, index) => [letter, index + 2])),
};
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/** Returns the check digit that a VIN must have. */
export function checkDigit(vin: string): string {
  const sum = [...vin].reduce(
    (total, sign, index) => total + (transliteration[sign] ?? Number(sign)) * (weights[index] ?? 0),
    0,
  );
  return sum % 11 === 10 ? "X" : String(sum % 11);
}

/** Returns the model year: the tenth character, from 2010 on if the seventh is a letter, before 2010 otherwise. */
export function modelYear(vin: string): number {
  const codes = "ABCDEFGHJKLMNPRSTVWXY123456789";
  return (/[A-Z]/.test(vin[6] ?? "") ? 2010 : 1980) + codes.indexOf(vin[9] ?? "");
}

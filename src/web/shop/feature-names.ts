/** The names of features as people write them: `apple_carplay` is Apple CarPlay. */

/** Words that are not written in lower case. */
const words: ReadonlyMap<string, string> = new Map([
  ["abs", "ABS"],
  ["android", "Android"],
  ["apple", "Apple"],
  ["auto", "Auto"],
  ["awd", "AWD"],
  ["bluetooth", "Bluetooth"],
  ["carplay", "CarPlay"],
  ["dc", "DC"],
  ["dvd", "DVD"],
  ["gps", "GPS"],
  ["hd", "HD"],
  ["led", "LED"],
  ["siriusxm", "SiriusXM"],
  ["usb", "USB"],
  ["wifi", "Wi-Fi"],
]);

/** Returns a feature as people write it. */
export function featureName(feature: string): string {
  const written = feature
    .split(/[_ ]/)
    .map((word) => words.get(word.toLowerCase()) ?? word)
    .join(" ");
  return written.charAt(0).toUpperCase() + written.slice(1);
}

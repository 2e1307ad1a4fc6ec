/** A Parquet file without rows whose schema is a column `vin` and a chain of nested groups. No writer creates such a file. */

const varint = (value: number): readonly number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];

/** Writes an integer of Thrift's compact protocol. */
const integer = (value: number): readonly number[] => varint(2 * value);

const text = (value: string): readonly number[] => [...varint(value.length), ...Buffer.from(value)];

/** A schema element: for a leaf its type, for all but the root that it is optional, its name, for a group its number of children. */
const root = (children: number): readonly number[] => [0x48, ...text("root"), 0x15, ...integer(children), 0];
const group = [0x35, ...integer(1), 0x18, ...text("g"), 0x15, ...integer(1), 0];
const leaf = (name: string): readonly number[] => [0x15, ...integer(6), 0x25, ...integer(1), 0x18, ...text(name), 0];

/** Returns the file with a number of groups in each other. */
export function deepParquet(groups: number): Buffer {
  const elements = [root(2), leaf("vin"), ...Array<readonly number[]>(groups).fill(group), leaf("x")];
  const footer = Buffer.from([
    ...[0x15, ...integer(1), 0x19, 0xfc, ...varint(elements.length)],
    ...elements.flat(),
    ...[0x16, ...integer(0), 0x19, 0x0c, 0],
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from("PAR1"), footer, length, Buffer.from("PAR1")]);
}

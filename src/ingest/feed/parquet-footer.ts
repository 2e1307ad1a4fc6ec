/**
 * Reads from the footer of a Parquet file how many elements its schema has. The engine descends into the schema by recursion and overflows
 * the stack at some ten thousand nested groups, so their number is checked before it opens the file.
 *
 * The footer is a struct of Thrift's compact protocol; its field 2 is the list of schema elements.
 */

/** Types of the compact protocol, without maps, which Parquet does not use. */
const boolTrue = 1;
const boolFalse = 2;
const byteType = 3;
const i16 = 4;
const i32 = 5;
const i64 = 6;
const double = 7;
const binary = 8;
const list = 9;
const set = 10;
const struct = 12;

const schemaField = 2;

/** Values that are still to be skipped. */
interface Pending {
  readonly type: number;
  count: number;
  /** Whether a boolean has a byte; as a field of a struct it has none. */
  readonly isItem: boolean;
}

/** Returns the number of schema elements in a footer. Throws a RangeError if the footer is malformed. */
export function countSchemaElements(footer: Buffer): number {
  const reader = new CompactReader(footer);
  let elements = 0;
  for (let field = reader.field(0); field.type !== 0; field = reader.field(field.id)) {
    if (field.id === schemaField && field.type === list) elements = Math.max(elements, reader.peekItems());
    reader.skip(field.type);
  }
  return elements;
}

class CompactReader {
  private offset = 0;

  constructor(private readonly bytes: Buffer) {}

  /** Reads the header of a struct's next field; type 0 ends the struct. */
  field(previousId: number): { readonly type: number; readonly id: number } {
    const header = this.byte();
    const type = header & 15;
    const delta = header >> 4;
    if (type === 0) return { type, id: 0 };
    if (delta > 0) return { type, id: previousId + delta };
    const zigzag = this.varint();
    return { type, id: zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2 };
  }

  /** Returns the number of items of the list that comes next. */
  peekItems(): number {
    const start = this.offset;
    const { count } = this.items();
    this.offset = start;
    return count;
  }

  /** Skips the value of a field, without recursion. */
  skip(fieldType: number): void {
    const pending: Pending[] = [{ type: fieldType, count: 1, isItem: false }];
    for (let next = pending.at(-1); next !== undefined; next = pending.at(-1)) {
      if (next.count === 0) {
        pending.pop();
        continue;
      }
      if (next.type === struct) {
        const { type } = this.field(0);
        if (type === 0) next.count -= 1;
        else pending.push({ type, count: 1, isItem: false });
        continue;
      }
      next.count -= 1;
      if (next.type === list || next.type === set) pending.push(this.items());
      else this.skipScalar(next);
    }
  }

  private skipScalar({ type, isItem }: Pending): void {
    if (type === boolTrue || type === boolFalse) this.offset += isItem ? 1 : 0;
    else if (type === byteType) this.offset += 1;
    else if (type === i16 || type === i32 || type === i64) this.varint();
    else if (type === double) this.offset += 8;
    else if (type === binary) {
      const length = this.varint();
      this.offset += length;
    } else throw new RangeError(`Invalid type ${type}: expected a type of Parquet.`);
    if (this.offset > this.bytes.length) throw new RangeError("Unexpected end of the footer.");
  }

  private items(): Pending {
    const header = this.byte();
    return { type: header & 15, count: header >> 4 === 15 ? this.varint() : header >> 4, isItem: true };
  }

  private byte(): number {
    const byte = this.bytes[this.offset];
    if (byte === undefined) throw new RangeError("Unexpected end of the footer.");
    this.offset += 1;
    return byte;
  }

  private varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new RangeError("Invalid number: expected at most 10 bytes.");
  }
}

/** Writes ZIP files, also such as no program writes. */
import { crc32, deflateRawSync } from "node:zlib";

/** Returns a ZIP file with entries by name. `size` replaces the uncompressed size that it states. */
export function zipOf(
  entries: Readonly<Record<string, string | Buffer>>,
  { size }: { readonly size?: number } = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const stored = deflateRawSync(content);
    const sizes = Buffer.alloc(18);
    sizes.writeUInt16LE(8, 2);
    sizes.writeUInt32LE(crc32(content), 6 + 0);
    sizes.writeUInt32LE(stored.length, 10);
    sizes.writeUInt32LE(size ?? Buffer.byteLength(content), 14);
    // Version, flags, method, time and date, CRC, sizes, length of the name and of extra fields.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    sizes.copy(common, 10, 6);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, Buffer.from(name), stored]);
    const offsetField = Buffer.alloc(14);
    offsetField.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), common, offsetField, Buffer.from(name)]),
    );
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listed, Buffer.from("PK\x05\x06", "latin1"), end]);
}

/** Records in Redis are MessagePack; one packer without shared structures, so that every record stands alone. */
import { Packr } from 'msgpackr';

// Lua packs whole numbers as 64-bit integers; ours all fit a double. moreTypes stays off: Lua reads some of these.
const packr = new Packr({ useRecords: false, int64AsType: 'number', moreTypes: false, mapsAsObjects: true });

export function pack(value: unknown): Buffer {
  return packr.pack(value);
}

/** The caller names the type it packed. */
export function unpack<T>(packed: Buffer): T {
  return packr.unpack(packed) as T;
}

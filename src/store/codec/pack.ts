/** Records in Redis are MessagePack, without shared structures, so that every record is self-contained. */
import { Packr } from 'msgpackr';

// Lua packs whole numbers as 64-bit integers, which all fit a double here. moreTypes is off because Lua reads some records.
const packr = new Packr({ useRecords: false, int64AsType: 'number', moreTypes: false, mapsAsObjects: true });

export function pack(value: unknown): Buffer {
  return packr.pack(value);
}

/** The caller chooses the type that it packed. */
export function unpack<T>(packed: Buffer): T {
  return packr.unpack(packed) as T;
}

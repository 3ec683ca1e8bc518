/**
 * Memory for bytes that are soon sent and forgotten. A buffer of its own for each costs the garbage collector more than
 * writing it.
 */
const slabBytes = 1024 * 1024;
/** Larger ones would waste much of a slab. */
const shareBytesMax = slabBytes / 4;

let slab = Buffer.alloc(0);
let usedBytes = 0;

/** Bytes that nobody else has, with anything in them. The slab stays in memory as long as one of its shares does. */
export function takeBytes(bytes: number): Buffer {
  if (bytes > shareBytesMax) return Buffer.allocUnsafeSlow(bytes);
  if (usedBytes + bytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    usedBytes = 0;
  }
  const share = slab.subarray(usedBytes, usedBytes + bytes);
  usedBytes += bytes;
  return share;
}

/** Bits of a mask; the lowest are not used. */
const maskBits = 27;
/** The bits that masks do not use. */
export const spareBits = 32 - maskBits;

/** The letters of a text as bits: one for each of a to z. Other characters share the bits. */
export function letterMask(text: string): number {
  let mask = 0;
  for (let at = 0; at < text.length; at += 1) {
    const codePoint = text.codePointAt(at) ?? 0;
    if (codePoint > 0xffff) at += 1;
    const bit = codePoint >= 0x61 && codePoint <= 0x7a ? codePoint - 0x61 : codePoint % maskBits;
    mask |= 1 << (bit + spareBits);
  }
  return mask;
}

export function hasMoreBits(bits: number, bound: number): boolean {
  let left = bits;
  for (let count = 0; count < bound && left !== 0; count += 1) left &= left - 1;
  return left !== 0;
}

/** Order of two texts by code points; UTF-16 units alone would put U+10000 and above before U+E000. */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return rank(unitA) - rank(unitB);
  }
  return a.length - b.length;
}

/** Puts surrogates, which stand for the code points beyond U+FFFF, above all other units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit > 0xdfff ? unit - 0x800 : unit + 0x2000;
}

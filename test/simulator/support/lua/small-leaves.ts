/** Ordered lists whose leaves hold two texts: the leaves of so few entities would otherwise never be cut. */
import assert from 'node:assert/strict';

/** Constants of `parts/ordered-lists.lua`, as large as they are in the simulator. */
export const leafMax = 2;
const smallLeaf = 1;
/** Bytes. URLs with a host are longer, other texts are not. */
export const longText = 16;

const constants = Object.entries({ leafMax, smallLeaf, longText });

/** A script that comes after that part, with small leaves; any other as it is. */
export function withSmallLeaves(source: string): string {
  if (!source.includes('function orderedList(')) return source;
  return constants.reduce((text, [name, value]) => {
    const line = new RegExp(`^local ${name} = \\d+$`, 'm');
    assert.match(text, line, `${name} is not in the script any more`);
    return text.replace(line, `local ${name} = ${value}`);
  }, source);
}

/** Ordered lists whose leaves hold two strings, because the leaves of so few entities would otherwise never be split. */
import assert from 'node:assert/strict';

/** Constants of `parts/ordered-lists.lua`, with their values in the simulator. */
export const leafMax = 2;
const smallLeaf = 1;
/** In bytes. URLs with a host are longer, other strings are not. */
export const longText = 16;

const constants = Object.entries({ leafMax, smallLeaf, longText });

/** The source with small leaves if it includes that part, otherwise unchanged. */
export function withSmallLeaves(source: string): string {
  if (!source.includes('function orderedList(')) return source;
  return constants.reduce((text, [name, value]) => {
    const line = new RegExp(`^local ${name} = \\d+$`, 'm');
    assert.match(text, line, `${name} is no longer in the script`);
    return text.replace(line, `local ${name} = ${value}`);
  }, source);
}

/** Finds the originId in the first bytes of an entity that is too large to be parsed. */

const memberPattern = /"originId"\s*:\s*("(?:[^"\\]|\\.){1,4096}")/y;

/**
 * The originId among the members of the entity itself; null when its first bytes do not show one.
 * @param bytes the beginning of an object's JSON text
 */
export function peekOriginId(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === '"') {
      memberPattern.lastIndex = at;
      const value = depth === 1 ? memberPattern.exec(text)?.[1] : undefined;
      if (value !== undefined) return textOf(value);
      at = stringEnd(text, at);
    }
  }
  return null;
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function textOf(json: string): string | null {
  try {
    return String(JSON.parse(json));
  } catch {
    return null;
  }
}

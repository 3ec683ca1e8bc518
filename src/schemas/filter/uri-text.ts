const codes = /(?:%[0-9A-Fa-f]{2})+/g;

/** Decodes the URI codes of a text. What begins no code, or stands for no character, stays as it is. */
export function decodeUriText(text: string): string {
  return text.includes('%') ? text.replace(codes, decodeRun) : text;
}

/** @param run codes alone */
function decodeRun(run: string): string {
  let decoded = '';
  for (let at = 0; at < run.length; ) {
    const length = 3 * characterBytes(Number.parseInt(run.slice(at + 1, at + 3), 16));
    const text = decodeCharacter(run.slice(at, at + length));
    decoded += text ?? run.slice(at, at + 3);
    at += text === null ? 3 : length;
  }
  return decoded;
}

/** Bytes of the UTF-8 character that begins with `byte`. */
function characterBytes(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

function decodeCharacter(code: string): string | null {
  try {
    return decodeURIComponent(code);
  } catch {
    return null;
  }
}

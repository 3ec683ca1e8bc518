/** The protocol of Redis (RESP 2) from the server's side. Texts hold one byte a character. */

/** What a command answers; a text that is a status has no bytes of its own. */
export type Reply = null | number | string | Status | ErrorReply | readonly Reply[];

export class Status {
  constructor(readonly text: string) {}
}

/** An error as a command answers it. */
export class ErrorReply extends Error {
  override readonly name = 'ErrorReply';
}

/** Cuts what a client sends into commands. */
export class CommandReader {
  #rest = '';

  read(bytes: Buffer): string[][] {
    this.#rest += bytes.toString('latin1');
    const commands: string[][] = [];
    for (;;) {
      const command = this.#next();
      if (command === null) return commands;
      commands.push(command);
    }
  }

  /** Null until a whole command is there. */
  #next(): string[] | null {
    const text = this.#rest;
    const [count, begin] = header(text, 0, '*');
    if (count === null) return null;
    const words: string[] = [];
    let at = begin;
    for (let index = 0; index < count; index += 1) {
      const [length, from] = header(text, at, '$');
      if (length === null || text.length < from + length + 2) return null;
      words.push(text.slice(from, from + length));
      at = from + length + 2;
    }
    this.#rest = text.slice(at);
    return words;
  }
}

/** The number in a line that begins with a mark, and where the next line begins. */
function header(text: string, at: number, mark: '*' | '$'): [number | null, number] {
  const end = text.indexOf('\r\n', at);
  if (end < 0) return [null, at];
  if (text[at] !== mark) throw new Error(`expected ${mark} at ${JSON.stringify(text.slice(at, at + 20))}`);
  return [Number(text.slice(at + 1, end)), end + 2];
}

export function encodeReply(reply: Reply): Buffer {
  return Buffer.from(textOf(reply), 'latin1');
}

function textOf(reply: Reply): string {
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`;
  if (reply instanceof Status) return `+${reply.text}\r\n`;
  if (reply instanceof ErrorReply) return `-${reply.message}\r\n`;
  return `*${reply.length}\r\n${reply.map(textOf).join('')}`;
}

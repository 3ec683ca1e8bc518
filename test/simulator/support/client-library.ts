/**
 * The client library without its wire protocol and its pipelines: what it would write as bytes and read from them goes as
 * it is, each command by itself. The rest of it is real: how it builds commands and scripts, connects, connects again and
 * sends again, and what it makes of replies.
 */
import { createRequire } from 'node:module';
import { Redis } from 'ioredis';
import { ErrorReply, type Reply, Status } from './reply.ts';

/** A command as Redis sees it: its name and its arguments. */
export type Words = readonly string[];

interface Command {
  readonly name: string;
  /** Numbers are texts already. */
  readonly args: readonly (string | Buffer)[];
}

interface Client {
  readonly options: { enableAutoPipelining: boolean };
  connect(): Promise<void>;
}

interface Decoder {
  readonly onReply: (reply: unknown) => void;
  readonly onErrorReply: (error: Error) => void;
}

const require = createRequire(import.meta.url);
const command = require('ioredis/built/Command.js') as { default: { prototype: { toWritable: unknown } } };
const decoder = require('ioredis/built/resp/decoder.js') as { Decoder: { prototype: { write: unknown } } };
const clients = Redis.prototype as unknown as Client;
const end = ';';

/** Commands on their way through the library, by the text that it takes for their bytes. */
const written = new Map<string, Words>();
let lastTicket = 0;

/** Takes the place of the library's encoder and decoder. @returns puts them back */
export function installCodec(): () => void {
  const [{ prototype: commands }, { prototype: decoders }] = [command.default, decoder.Decoder];
  const { toWritable } = commands;
  const { connect } = clients;
  clients.connect = function (this: Client): Promise<void> {
    this.options.enableAutoPipelining = false;
    return connect.call(this);
  };
  const { write } = decoders;
  commands.toWritable = function (this: Command): string {
    lastTicket += 1;
    const ticket = String(lastTicket);
    written.set(ticket, wordsOf(this));
    return ticket + end;
  };
  decoders.write = function (this: Decoder, replies: readonly Reply[]): void {
    for (const reply of replies) {
      if (reply instanceof ErrorReply) this.onErrorReply(new Error(reply.message));
      else this.onReply(bytesOf(reply));
    }
  };
  return () => {
    commands.toWritable = toWritable;
    clients.connect = connect;
    decoders.write = write;
    written.clear();
  };
}

/** The commands that the library wrote, of one or several that go together. */
export function commandsIn(text: string): Words[] {
  const commands: Words[] = [];
  for (let from = 0; from < text.length; ) {
    const to = text.indexOf(end, from);
    const ticket = text.slice(from, to);
    const words = written.get(ticket);
    if (words !== undefined) commands.push(words);
    written.delete(ticket);
    from = to + 1;
  }
  return commands;
}

function wordsOf({ name, args }: Command): Words {
  const words = [name];
  for (const argument of args)
    words.push(typeof argument === 'string' ? oneByte(argument) : argument.toString('latin1'));
  return words;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of one byte in UTF-8.
const isPlain = /^[\x00-\x7f]*$/;

function oneByte(text: string): string {
  return isPlain.test(text) ? text : Buffer.from(text).toString('latin1');
}

function bytesOf(reply: Reply): unknown {
  if (typeof reply === 'string') return Buffer.from(reply, 'latin1');
  if (reply === null || typeof reply === 'number') return reply;
  if (reply instanceof Status) return Buffer.from(reply.text, 'latin1');
  if (reply instanceof ErrorReply) return new Error(reply.message);
  return reply.map(bytesOf);
}

/**
 * The client library without its wire protocol and pipelines: commands and replies are passed as objects, one by one. The
 * rest is real: how it builds commands and scripts, connects, reconnects and resends, and how it converts replies.
 */
import { createRequire } from 'node:module';
import { Redis, ReplyError } from 'ioredis';
import { ErrorReply, type Reply, Status } from './reply.ts';

/** A command as Redis sees it: its name and its arguments. */
export type Words = readonly string[];

interface Command {
  readonly name: string;
  /** Numbers are already strings. */
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

/** Replaces the library's encoder and decoder. @returns restores them */
export function installCodec(): () => void {
  const [{ prototype: commands }, { prototype: decoders }] = [command.default, decoder.Decoder];
  const { toWritable } = commands;
  const { connect } = clients;
  clients.connect = function (this: Client): Promise<void> {
    this.options.enableAutoPipelining = false;
    return connect.call(this);
  };
  const { write } = decoders;
  commands.toWritable = function (this: Command): Words {
    return wordsOf(this);
  };
  decoders.write = function (this: Decoder, replies: readonly Reply[]): void {
    for (const reply of replies) {
      if (reply instanceof ErrorReply) this.onErrorReply(new ReplyError(reply.message));
      else this.onReply(bytesOf(reply));
    }
  };
  return () => {
    commands.toWritable = toWritable;
    clients.connect = connect;
    decoders.write = write;
  };
}

function wordsOf({ name, args }: Command): Words {
  const words: string[] = new Array(args.length + 1);
  words[0] = name;
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at] ?? '';
    words[at + 1] = typeof argument === 'string' ? oneByte(argument) : argument.toString('latin1');
  }
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

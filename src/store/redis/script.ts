/**
 * Lua scripts: each is one file, whose header says what it does, takes and returns. Its folder in `scripts/`
 * has the name of the folder of `src/store` that calls it. `scripts/parts/` holds what several scripts begin with.
 *
 * The first line of a script says what a full Redis does with it: without flags it is refused, with `allow-oom` it runs.
 * A script that takes in something new is refused. A script that finishes, keeps or removes something runs.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'ioredis';
import type { RedisClient } from './redis-connection.ts';
import { answerOf, storeError } from './redis-errors.ts';
import { sendCommand } from './send.ts';

export type ScriptArgument = string | number | Buffer;

/** One Lua script. Replies come as numbers, Buffers and arrays of them. */
export class Script<Reply> {
  readonly #text: ScriptText;

  /**
   * @param name folder and file: `entities/accept`
   * @param keyCount null: as many keys as a call gives
   * @param parts files of `scripts/parts` that come before it, in this order; the script may use what they define
   */
  constructor(
    name: string,
    private readonly keyCount: number | null,
    parts: readonly string[] = [],
  ) {
    const lua = luaOf(name);
    const headEnd = lua.indexOf('\n');
    const before = parts.map((part) => `\n${luaOf(`parts/${part}`)}`).join('');
    this.#text = new ScriptText(lua.slice(0, headEnd) + before + lua.slice(headEnd));
  }

  /**
   * Sends the script immediately, after earlier commands. Commands that the client pipelines by itself go later.
   * @throws FencedError, StoreFullError, StoreUnavailableError
   */
  async run(
    client: RedisClient,
    keys: readonly string[],
    scriptArguments: readonly ScriptArgument[],
  ): Promise<Reply> {
    const words = [this.keyCount ?? keys.length, ...keys, ...scriptArguments];
    const command = new ScriptCommand(this.#text, words);
    try {
      return (await sendCommand(client, command)) as Reply;
    } catch (error) {
      if (!isForgotten(error)) throw storeError(error);
    }
    command.forget();
    return (await answerOf(sendCommand(client, new ScriptCommand(this.#text, words)))) as Reply;
  }
}

/** A script in the name of a partition's owner. It first refuses an owner whose lease is of another history. */
export class OwnerScript<Reply> {
  readonly #script: Script<Reply>;

  /** As `Script`. */
  constructor(name: string, keyCount: number, parts: readonly string[] = []) {
    this.#script = new Script(name, keyCount, ['history', 'owner', ...parts]);
  }

  /**
   * @param owner `onlyIn`: history in which it took its lease; absent: any history
   * @throws FencedError, StoreFullError, StoreUnavailableError
   */
  run(
    client: RedisClient,
    { onlyIn = '' }: { readonly onlyIn?: string | undefined },
    keys: readonly string[],
    scriptArguments: readonly ScriptArgument[],
  ): Promise<Reply> {
    return this.#script.run(client, keys, [...scriptArguments, onlyIn]);
  }
}

function luaOf(name: string): string {
  return readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), 'utf8');
}

class ScriptText {
  readonly digest: string;
  /** Connections on which the whole script was sent: on these its digest is enough. */
  readonly known = new WeakSet<object>();

  constructor(readonly lua: string) {
    this.digest = createHash('sha1').update(lua).digest('hex');
  }
}

/** Sends the digest of a script; the first time on a connection it sends the text. */
class ScriptCommand extends Command {
  #connection: object | null = null;

  constructor(
    private readonly script: ScriptText,
    words: readonly ScriptArgument[],
  ) {
    super('evalsha', [script.digest, ...words], { replyEncoding: null });
  }

  /** Called by the client whenever it writes the command: again after a redirection, or on a new connection. */
  override toWritable(connection: object): string | Buffer {
    const { known, lua, digest } = this.script;
    const isKnown = known.has(connection);
    if (!isKnown) known.add(connection);
    this.name = isKnown ? 'evalsha' : 'eval';
    this.args[0] = isKnown ? digest : lua;
    this.#connection = connection;
    return super.toWritable(connection);
  }

  /** Has the whole script sent again on the connection that the command went to. */
  forget(): void {
    if (this.#connection !== null) this.script.known.delete(this.#connection);
  }
}

/** The server has forgotten the script while the connection stayed, as after `SCRIPT FLUSH`. */
function isForgotten(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

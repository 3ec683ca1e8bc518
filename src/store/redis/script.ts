/**
 * Lua scripts: each is one file, whose header says what it does, takes and returns. It lies in the folder of `scripts/`
 * that is named as the folder of `src/store` whose code calls it; `scripts/parts/` is what several of them begin with.
 *
 * The first line of a script says what a full Redis does with it: without flags it is refused, with `allow-oom` it runs.
 * What takes in something new is refused; what finishes, keeps or removes what is there runs.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'ioredis';
import type { RedisClient } from './connection.ts';
import { answerOf, storeError } from './errors.ts';
import { sendCommand } from './send.ts';

export type ScriptArgument = string | number | Buffer;

/** One Lua script. Replies come as numbers, Buffers and arrays of them. */
export class Script<Reply> {
  readonly #text: ScriptText;

  /**
   * @param name folder and file: `entities/accept`
   * @param parts in `scripts/parts`, what comes before it in this order: a script may use what they define
   */
  constructor(
    name: string,
    private readonly keyCount: number,
    parts: readonly string[] = [],
  ) {
    const lua = luaOf(name);
    const headEnd = lua.indexOf('\n');
    const before = parts.map((part) => `\n${luaOf(`parts/${part}`)}`).join('');
    this.#text = new ScriptText(lua.slice(0, headEnd) + before + lua.slice(headEnd));
  }

  /**
   * Sent at once, behind what was sent before; what the client pipelines by itself comes later.
   * @throws FencedError, StoreFullError, StoreUnavailableError
   */
  async run(
    client: RedisClient,
    keys: readonly string[],
    scriptArguments: readonly ScriptArgument[],
  ): Promise<Reply> {
    const words = [this.keyCount, ...keys, ...scriptArguments];
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

/** A script in the name of a partition's owner: first of all it refuses one whose lease is of another history. */
export class OwnerScript<Reply> {
  readonly #script: Script<Reply>;

  /** As `Script`. */
  constructor(name: string, keyCount: number, parts: readonly string[] = []) {
    this.#script = new Script(name, keyCount, ['history', 'owner', ...parts]);
  }

  /**
   * @param owner `onlyIn`: history in which it took its lease; absent: any will do
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
  /** Connections on which it was sent as a whole: to what answers there its digest says enough. */
  readonly known = new WeakSet<object>();

  constructor(readonly lua: string) {
    this.digest = createHash('sha1').update(lua).digest('hex');
  }
}

/** Goes by the script's digest, and the first time on a connection by its text. */
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

  /** The connection that it went to needs the whole script again. */
  forget(): void {
    if (this.#connection !== null) this.script.known.delete(this.#connection);
  }
}

/** As after `SCRIPT FLUSH`, which a connection outlives. */
function isForgotten(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Receives what the code of a schema gives to `console` while it is built. */
import type { CodeSandbox } from '../../actors/batch/code-replies.ts';

export class ConsoleText implements CodeSandbox {
  readonly #lines = new Map<string, readonly string[]>();

  constructor(private readonly sandbox: CodeSandbox) {}

  /** In the order in which the programs were first called. */
  get lines(): readonly string[] {
    return [...this.#lines.values()].flat();
  }

  async run(...asked: Parameters<CodeSandbox['run']>): ReturnType<CodeSandbox['run']> {
    const [calls] = asked;
    const replies = await this.sandbox.run(...asked);
    calls.forEach(({ task, alias, input }, at) => {
      // A call that waited for lookups is made again from its beginning: the last one says everything.
      this.#lines.set(JSON.stringify([task, alias, input]), replies[at]?.log ?? []);
    });
    return replies;
  }
}

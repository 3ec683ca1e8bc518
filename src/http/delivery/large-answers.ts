/**
 * Answers that are made of many bytes take turns: a front makes a few at a time, one for each client, so that what they
 * need is bounded and nobody's answers stand behind those of one client.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { largeAnswersMax, largeAnswersOfClientMax, largeAnswersWaitingMax } from '../../contract/limits.ts';

/** Gives a turn back. */
export type EndOfTurn = () => void;

interface Client {
  running: number;
  readonly waiting: ((end: EndOfTurn) => void)[];
}

export class LargeAnswers {
  /** Those with answers that run or wait, whoever had the last turn behind the others. */
  readonly #clients = new Map<object, Client>();
  #running = 0;

  /** That are being made. */
  get running(): number {
    return this.#running;
  }

  /**
   * Waits for a turn, which is the caller's until it is ended.
   * @param owner whose answer it is. @throws ProblemError `unavailable` when too many of this owner wait already
   */
  async turn(owner: object): Promise<EndOfTurn> {
    const client = this.#clients.get(owner) ?? { running: 0, waiting: [] };
    if (client.waiting.length === largeAnswersWaitingMax) throw new ProblemError(problems.unavailable);
    this.#clients.set(owner, client);
    return new Promise((resolve) => {
      client.waiting.push(resolve);
      this.#next();
    });
  }

  #next(): void {
    for (const [owner, client] of this.#clients) {
      if (this.#running === largeAnswersMax) return;
      if (client.running === largeAnswersOfClientMax) continue;
      const begin = client.waiting.shift();
      if (begin === undefined) continue;
      this.#running += 1;
      client.running += 1;
      this.#clients.delete(owner);
      this.#clients.set(owner, client);
      begin(() => this.#end(owner, client));
      return;
    }
  }

  #end(owner: object, client: Client): void {
    this.#running -= 1;
    client.running -= 1;
    if (client.running === 0 && client.waiting.length === 0) this.#clients.delete(owner);
    this.#next();
  }
}

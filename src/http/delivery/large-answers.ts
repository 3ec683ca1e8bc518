/**
 * Answers that are made of many bytes take turns. A front makes a few at a time, and few for each client. So their
 * memory is bounded, and no client's answers wait behind all those of another.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { largeAnswersMax, largeAnswersOfClientMax, largeAnswersWaitingMax } from '../../contract/limits.ts';

/** Ends a turn. */
export type EndOfTurn = () => void;

interface Client {
  running: number;
  readonly waiting: ((end: EndOfTurn) => void)[];
}

export class LargeAnswers {
  /** Clients with answers that run or wait. The client that had the last turn stands last. */
  readonly #clients = new Map<object, Client>();
  #running = 0;

  /** Answers that are being made. */
  get running(): number {
    return this.#running;
  }

  /**
   * Waits for a turn. The caller must end it.
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

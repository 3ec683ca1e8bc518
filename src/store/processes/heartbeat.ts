/** The heartbeat of a process: every second, and when another process asks, it reports that it is alive and what it does. */
import { Subscription } from '../redis/subscription.ts';
import type { MetricsText, ProcessAsk, ProcessBeat, ProcessHost, ProcessNews } from './process-messages.ts';

export const heartbeatMs = 1000;
/** Questions that come meanwhile are answered together. */
const answerMs = 5;

export interface HeartbeatSource {
  /** What the process reports; null when it reports nothing, because it is as good as dead. */
  beat(): ProcessBeat | null;
  /** Its metrics in Prometheus' text form, made when a process asks for them. */
  metrics(): Promise<string>;
}

export class Heartbeat {
  readonly #subscription: Subscription;
  readonly #timer: NodeJS.Timeout;
  #answering: NodeJS.Timeout | null = null;

  /** Begins immediately. The next beat makes up for one that gets lost. */
  constructor(
    private readonly host: ProcessHost,
    private readonly source: HeartbeatSource,
  ) {
    this.#subscription = new Subscription(host, host.channels.asks, {
      message: (text) => this.#answer(JSON.parse(text)),
      subscribed: () => this.tell(),
    });
    this.#timer = setInterval(() => this.tell(), heartbeatMs);
    this.tell();
  }

  /** Reports immediately, besides every second. */
  tell(): void {
    const beat = this.source.beat();
    if (beat !== null) this.#publish({ kind: 'beat', beat }).catch(() => {});
  }

  /** Says that the process has ended. */
  async close(): Promise<void> {
    const beat = this.source.beat();
    this.fallSilent();
    // Without a connection it would wait for one.
    if (beat !== null && this.host.client.status === 'ready')
      await this.#publish({ kind: 'left', id: beat.id }).catch(() => {});
  }

  /** Ends without a word, as the heartbeat of a process that is killed. */
  fallSilent(): void {
    clearInterval(this.#timer);
    if (this.#answering !== null) clearTimeout(this.#answering);
    this.#subscription.close();
  }

  #answer(ask: ProcessAsk): void {
    if (ask.kind === 'metrics') this.#tellMetrics(ask).catch(() => {});
    else
      this.#answering ??= setTimeout(() => {
        this.#answering = null;
        this.tell();
      }, answerMs);
  }

  async #tellMetrics({ replyTo, except }: Extract<ProcessAsk, { kind: 'metrics' }>): Promise<void> {
    const beat = this.source.beat();
    if (beat === null || beat.id === except) return;
    const { id, role } = beat;
    const reply: MetricsText = { process: id, role, text: await this.source.metrics() };
    await this.host.client.publish(replyTo, JSON.stringify(reply));
  }

  async #publish(news: ProcessNews): Promise<void> {
    await this.host.client.publish(this.host.channels.beats, JSON.stringify(news));
  }
}

/**
 * A steady stream of changes over all pages: 200 a second, ten in a request every 50 ms, like a system that batches the changes
 * of its editors and importers. Requests are prepared before the measurement, like those of the load, and sent with minimal
 * work in Node, because the writer takes processor time from the measured processes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { getOwn } from '../../../src/contract/json.ts';
import { article, articleCount, articleUrl } from '../data/pages.ts';
import type { Client } from '../load/client.ts';
import type { RawConnection } from '../load/raw-connection.ts';

const changesPerRequest = 10;
const requestEveryMs = 50;
const checkedPages = 50;

/** Changes of some articles, ready to be sent. */
interface Change {
  readonly numbers: readonly number[];
  readonly revision: number;
  readonly request: Buffer;
}

export class PageWriter {
  written = 0;
  private writingMs = 0;
  private revision = 0;
  private next = 0;
  private readonly prepared: Change[] = [];
  private readonly revisions = new Map<number, number>();
  private readonly connection: RawConnection;

  /** @param seconds of writing for which changes are prepared in advance */
  constructor(
    private readonly client: Client,
    seconds: number,
  ) {
    this.connection = client.saveConnection();
    const count = Math.ceil((seconds * 1000) / requestEveryMs);
    while (this.prepared.length < count) this.prepared.push(this.prepare());
  }

  ratePerSecond(): number {
    return Math.round(this.written / (this.writingMs / 1000));
  }

  close(): void {
    this.connection.close();
  }

  /** Writes at a steady rate while `act` runs, then checks that the pages show it. */
  async during<T>(act: () => Promise<T>): Promise<T> {
    let isOver = false;
    const startedMs = performance.now();
    const writing = this.writeUntil(() => isOver);
    // The failure of the writer is thrown below, after the load.
    writing.catch(() => {});
    try {
      return await act();
    } finally {
      isOver = true;
      const version = await writing;
      this.writingMs += performance.now() - startedMs;
      await this.check(version);
    }
  }

  private async writeUntil(isOver: () => boolean): Promise<string> {
    let version = '';
    let dueMs = performance.now();
    while (!isOver()) {
      const { numbers, revision, request } = this.prepared.shift() ?? this.prepare();
      version = await this.client.saveOn(this.connection, request);
      for (const number of numbers) this.revisions.set(number, revision);
      this.written += numbers.length;
      dueMs += requestEveryMs;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    return version;
  }

  private prepare(): Change {
    this.revision += 1;
    const { revision } = this;
    const numbers = Array.from({ length: changesPerRequest }, () => this.nextNumber());
    const body = JSON.stringify(numbers.map((number) => article(number, revision)));
    return { numbers, revision, request: this.connection.postOf(body) };
  }

  private nextNumber(): number {
    this.next = (this.next + 617) % articleCount;
    return this.next;
  }

  private async check(version: string): Promise<void> {
    for (const [number, revision] of [...this.revisions].slice(-checkedPages)) {
      const page = await this.client.page(articleUrl(number), version);
      const shown = page === null ? null : getOwn(page, 'revision');
      if (shown !== revision) throw new Error(`article ${number} shows revision ${shown}, not ${revision}`);
    }
  }
}

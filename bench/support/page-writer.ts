/** A steady stream of changes over all pages: 200 a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getOwn } from '../../src/contract/json.ts';
import type { Client } from './client.ts';
import { article, articleCount, articleUrl } from './pages.ts';

const changesPerRequest = 10;
const requestEveryMs = 50;
const checkedPages = 50;

export class PageWriter {
  written = 0;
  private writingMs = 0;
  private revision = 0;
  private next = 0;
  private readonly revisions = new Map<number, number>();

  constructor(private readonly client: Client) {}

  ratePerSecond(): number {
    return Math.round(this.written / (this.writingMs / 1000));
  }

  /** Writes at a steady rate while `act` runs, then checks that the pages show it. */
  async during<T>(act: () => Promise<T>): Promise<T> {
    let isOver = false;
    const startedMs = performance.now();
    const writing = this.writeUntil(() => isOver);
    // A writer that fails is told about below, after the load.
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
      this.revision += 1;
      const numbers = Array.from({ length: changesPerRequest }, () => this.nextNumber());
      version = await this.client.save(numbers.map((number) => article(number, this.revision)));
      for (const number of numbers) this.revisions.set(number, this.revision);
      this.written += numbers.length;
      dueMs += requestEveryMs;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    return version;
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

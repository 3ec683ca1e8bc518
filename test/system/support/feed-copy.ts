/** A copy of an environment that is built only from its change feed. */
import type { Answer, Client } from './client.ts';

export interface CopiedView {
  readonly alias: string;
  readonly originId: string;
  readonly urls: readonly string[];
  readonly handles: readonly string[];
  readonly redirects: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a received change, whose members tests inspect.
export type ReportedChange = any;

export class FeedCopy {
  readonly views = new Map<string, CopiedView>();
  offset = '';

  apply(change: ReportedChange): void {
    const { id, alias, originId, action, urls, handles, redirects } = change;
    if (action === 'removed') this.views.delete(id);
    else
      this.views.set(id, {
        alias,
        originId,
        urls: urls.sort(),
        handles: handles.sort(),
        redirects: redirects.sort(),
      });
  }

  /** Reads to the end of the feed. @returns the changes */
  async catchUp(client: Client, key: string, parameters = ''): Promise<ReportedChange[]> {
    const reported: ReportedChange[] = [];
    for (;;) {
      const since = this.offset === '' ? '' : `since=${this.offset}&`;
      const answer = await client.get(`/changes/v1?${since}${parameters}`, { key });
      const { changes, offset, upToDate } = requireOk(answer).json;
      for (const change of changes) this.apply(change);
      reported.push(...changes);
      this.offset = offset;
      if (upToDate) return reported;
    }
  }

  clone(): FeedCopy {
    const copy = new FeedCopy();
    for (const [id, view] of this.views) copy.views.set(id, view);
    copy.offset = this.offset;
    return copy;
  }

  sorted(): [string, CopiedView][] {
    return [...this.views].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

export function requireOk(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer;
}

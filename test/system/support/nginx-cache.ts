/**
 * A real nginx as a cache before one front, configured as docs/guide/caches.md says. Nginx cannot purge by tag, as a CDN does, so
 * this works like cache purgers for nginx: each file of the cache begins with the head of its answer, and files whose head has
 * one of the tags are deleted.
 */
import assert from 'node:assert/strict';
import { readdir, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import { textOf } from '../../docs/support/markdown.ts';
import { Nginx } from '../../support/nginx.ts';

const tagLine = /^(?:cache-tag|surrogate-key): (.*)$/gim;

export class NginxCache {
  private constructor(private readonly nginx: Nginx) {}

  /** Starts nginx. The caller stops it. */
  static async start(frontUrl: string): Promise<NginxCache> {
    return new NginxCache(await Nginx.start((address, folder) => siteBefore(frontUrl, address, folder)));
  }

  get url(): string {
    return this.nginx.url;
  }

  /** Deletes the answers that have one of the tags. @returns their cache keys: `<path>|<API key>` */
  async purge(tags: ReadonlySet<string>): Promise<Set<string>> {
    // The single worker processes requests in order, so that after this answer the files of earlier ones exist.
    assert.equal((await fetch(`${this.url}/ping`)).status, 204);
    const purged = new Set<string>();
    for (const file of await this.#files()) {
      const kept = keptAnswer(await readFile(file));
      if (!kept.tags.some((tag) => tags.has(tag))) continue;
      await unlink(file);
      purged.add(kept.key);
    }
    return purged;
  }

  stop(): Promise<void> {
    return this.nginx.stop();
  }

  async #files(): Promise<string[]> {
    const folder = path.join(this.nginx.folder, 'cache');
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
  }
}

/** The cache key and the tags of a cached answer. */
function keptAnswer(file: Buffer): { readonly key: string; readonly tags: readonly string[] } {
  const text = file.toString('latin1');
  const [, key = ''] = /\nKEY: (.*)\n/.exec(text) ?? [];
  const head = text.slice(text.indexOf('\nKEY: '), text.indexOf('\r\n\r\n'));
  return { key, tags: [...head.matchAll(tagLine)].flatMap(([, tags = '']) => tags.trim().split(/[ ,]/)) };
}

/** The configuration of the guide, with the paths and addresses of the test. */
function siteBefore(frontUrl: string, address: string, folder: string): string {
  const [, documented = ''] = /```nginx\n(.*?)```/s.exec(textOf('docs/guide/caches.md')) ?? [];
  const site = documented
    .replace('/var/cache/nginx/millrace', `${folder}/cache`)
    .replace(
      'server {',
      `server { listen ${address}; location = /ping { return 204; } ` +
        'add_header X-Cache-Status $upstream_cache_status always;',
    );
  return `upstream millrace { server ${new URL(frontUrl).host}; keepalive 8; }\n${site}`;
}

/** A real nginx on its own port, as installed by `npm test`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ownPort } from './own-port.ts';
import { until } from './until.ts';

const temporaryKinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export class Nginx {
  private constructor(
    readonly url: string,
    /** For files of the site; deleted when nginx stops. */
    readonly folder: string,
    private readonly process: ChildProcess,
  ) {}

  /**
   * Starts nginx, which the caller stops. It has one worker, which processes one request at a time.
   * @param siteAt returns the documented lines for `http { }`, with `address` (host and port) to listen on and paths in
   * `folder`
   */
  static async start(siteAt: (address: string, folder: string) => string): Promise<Nginx> {
    const folder = await mkdtemp(path.join(tmpdir(), 'millrace-nginx-'));
    const address = `127.0.0.1:${await ownPort()}`;
    const file = path.join(folder, 'nginx.conf');
    await writeFile(file, configuration(folder, siteAt(address, folder)));
    const server = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'inherit'] });
    await Promise.race([
      once(server, 'spawn'),
      once(server, 'error').then(([error]) => Promise.reject(error)),
    ]);
    const nginx = new Nginx(`http://${address}`, folder, server);
    await until('nginx responds', () => {
      if (server.exitCode !== null) throw new Error(`nginx ended with ${server.exitCode}`);
      return fetch(nginx.url).then(
        () => true,
        () => false,
      );
    });
    return nginx;
  }

  /** The lines of its error log: what it tried, and why that failed. */
  async errors(): Promise<string[]> {
    const text = await readFile(path.join(this.folder, 'error.log'), 'utf8');
    return text.split('\n').filter((line) => line !== '');
  }

  async stop(): Promise<void> {
    const ended = this.process.exitCode === null ? once(this.process, 'exit') : null;
    this.process.kill('SIGTERM');
    await ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}

function configuration(folder: string, site: string): string {
  return [
    'daemon off; worker_processes 1;',
    // Its worker writes to a folder that only this user can access.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `pid ${folder}/pid; error_log ${folder}/error.log;`,
    'events {}',
    'http { access_log off;',
    ...temporaryKinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`),
    `${site} }`,
  ].join('\n');
}

import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../../../src/cli/start/ports.ts';
import { until } from '../../support/until.ts';
import { root, temporaryFolder } from './command.ts';

/** An `npm start` in its own process. */
export class Platform {
  output = '';
  readonly ended: Promise<number | null>;

  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
  ) {
    for (const stream of [process.stdout, process.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => {
        this.output += text;
      });
    }
    this.ended = new Promise((resolve) => process.once('close', resolve));
  }

  /** A process that was started in another way. The caller ends it. */
  static of(process: ChildProcess, url: string): Platform {
    return new Platform(process, url);
  }

  /** By default with its own port and data folder, and without the data of the demo. */
  static async start(
    context: TestContext,
    env: Record<string, string> = {},
    [program, ...words]: readonly [string, ...string[]] = [
      process.execPath,
      'src/cli/bootstrap.mjs',
      'start',
    ],
  ): Promise<Platform> {
    const port = env.PORT ?? String(await freePort('127.0.0.1'));
    const dataDir = env.DATA_DIR ?? (await temporaryFolder(context));
    const child = spawn(program, words, {
      cwd: root,
      env: {
        ...process.env,
        DEMO: 'off',
        CONFIG_DIR: path.join(root, 'config'),
        WORKERS: '1',
        PARTITIONS: '4',
        PORT: port,
        DATA_DIR: dataDir,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const platform = new Platform(child, `http://127.0.0.1:${port}`);
    context.after(async () => {
      child.kill('SIGTERM');
      await platform.ended;
    });
    return platform;
  }

  /** Waits until it is ready. */
  async ready(timeoutMs = 60_000): Promise<void> {
    await until('the platform is ready', () => this.output.includes('Millrace is ready at'), timeoutMs).catch(
      (error) => {
        throw new Error(`${error.message}\n${this.output}`);
      },
    );
  }

  /** Stops it like Ctrl-C. @returns its exit code */
  async stop(): Promise<number | null> {
    this.process.kill('SIGINT');
    return await this.ended;
  }
}

/** A Redis of a test's own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

export interface TestRedis {
  readonly url: string;
  /** May be called again. */
  stop(): Promise<void>;
}

export async function startRedis(port: number): Promise<TestRedis> {
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });
  await untilListening(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Resolves once something takes connections on the port. */
async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (attempt > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      socket.destroy();
    }
  }
}

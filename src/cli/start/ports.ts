import { once } from 'node:events';
import { createServer } from 'node:net';
import { codeOf, reasonOf } from '../../lib/message-text.ts';
import { CommandStop } from '../terminal/command-line.ts';

/** Returns a free port of this host. */
export async function freePort(host: string): Promise<number> {
  return listenOnce(host, 0);
}

/**
 * Checks that a port is free.
 * @throws CommandStop if another program listens there, or this host cannot listen on that address
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  try {
    await listenOnce(host, port);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE') {
      throw new CommandStop(
        `Port ${port} on ${host} is in use by another program. Stop it, or choose another port: PORT=${port + 1} npm start`,
      );
    }
    if (code === 'EACCES') {
      throw new CommandStop(
        `This user cannot listen on port ${port}. Choose a port above 1023: PORT=4000 npm start`,
      );
    }
    throw new CommandStop(
      `Cannot listen on HOST=${host}: ${reasonOf(error)}. ` +
        'Choose an address of this machine: HOST=127.0.0.1 npm start',
    );
  }
}

async function listenOnce(host: string, port: number): Promise<number> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : port;
}

/**
 * Ends the former connections of a client at Redis before a new one is used.
 *
 * When a connection breaks or is silent, the client opens another and repeats the commands without a reply. What was written to
 * the former one may still be on its way, held by the network, a proxy or the operating system, and Redis would run it whenever
 * it arrives: commands that were repeated and perhaps followed by newer ones. After `CLIENT KILL` it ignores them.
 */
import { Command, type Redis } from 'ioredis';

/** A connection as its server knows it. The address distinguishes it from connections with the same id on other servers. */
interface ServerConnection {
  readonly id: string;
  readonly address: string;
}

/** Connections that may still be open at the server. */
export type OpenConnections = Set<ServerConnection>;

/**
 * @param open shared by clients that repeat each other's commands: those of a cluster client for the same node
 */
export function endFormerConnections(redis: Redis, open: OpenConnections = new Set()): void {
  // The client library sends these commands immediately, and others only after their replies.
  redis.on('connect', () => {
    for (const former of open) end(redis, former, open);
    send(redis, ['INFO']).then(
      (info) => {
        const connection = parsed(String(info));
        if (connection !== null) open.add(connection);
      },
      () => {},
    );
  });
}

const refused = /^(NOPERM|ERR)\b/;

function end(redis: Redis, former: ServerConnection, open: OpenConnections): void {
  send(redis, ['KILL', 'ID', former.id, 'ADDR', former.address]).then(
    () => open.delete(former),
    // A user without this permission never gets it. After other errors, the next connection tries again.
    (error: Error) => refused.test(error.message) && open.delete(former),
  );
}

/** The methods of the library have no types for several filters. */
function send(redis: Redis, words: string[]): Promise<unknown> {
  return redis.sendCommand(new Command('client', words, { replyEncoding: 'utf8' })) as Promise<unknown>;
}

/** @param info a line of `CLIENT LIST` */
function parsed(info: string): ServerConnection | null {
  const [, id] = /\bid=(\d+)/.exec(info) ?? [];
  const [, address] = /\baddr=(\S+)/.exec(info) ?? [];
  return id === undefined || address === undefined ? null : { id, address };
}

/** How to reach the private Redis of a data folder: `npm start` writes it into the folder, and other commands read it there. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const redisHost = '127.0.0.1';

/** How to reach a Redis of ours. */
export interface RedisLogin {
  readonly port: number;
  readonly password: string;
}

/** The URL of a private Redis, with its password. */
export function urlOf({ port, password }: RedisLogin): string {
  return `redis://:${password}@${redisHost}:${port}`;
}

/** URL of the private Redis that the last `npm start` with this data folder ran; null when there was none. */
export function privateRedisUrl(dataDir: string): string | null {
  const login = readLogin(dataDir);
  return login === null ? null : urlOf(login);
}

/** The file with the login. */
export function loginFile(dataDir: string): string {
  return path.join(dataDir, 'redis.json');
}

/** Null when no `npm start` has written it. */
export function readLogin(dataDir: string): RedisLogin | null {
  const file = loginFile(dataDir);
  if (!existsSync(file)) return null;
  try {
    const { port, password } = JSON.parse(readFileSync(file, 'utf8'));
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
  } catch {
    return null;
  }
}

/** The login of the private Redis of a data folder: `npm start` writes it into the folder, and other commands read it. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const redisHost = '127.0.0.1';

/** Port and password of a private Redis. */
export interface RedisLogin {
  readonly port: number;
  readonly password: string;
}

/** The URL of a private Redis, with its password. */
export function urlOf({ port, password }: RedisLogin): string {
  return `redis://:${password}@${redisHost}:${port}`;
}

/** URL of the private Redis of the last `npm start` with this data folder; null if there was none. */
export function privateRedisUrl(dataDir: string): string | null {
  const login = readLogin(dataDir);
  return login === null ? null : urlOf(login);
}

/** Path of the file with the login. */
export function loginFile(dataDir: string): string {
  return path.join(dataDir, 'redis.json');
}

/** Null if there is no valid login file. */
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

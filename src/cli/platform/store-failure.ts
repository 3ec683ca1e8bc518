/** Messages of commands and processes about a Redis that fails: what is wrong, where, and what to do. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { HostAndPort } from '../../config/settings/setting.ts';
import { reasonOf } from '../../lib/message-text.ts';
import { NoReplicaError } from '../../store/redis/masters.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import { StoreFullError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import { CommandStop } from '../terminal/command-line.ts';

/** What is wrong and what to do, by the reason that Redis or the connection gave; the first that matches counts. */
interface Advice {
  readonly reason: RegExp;
  /** Scheme of the URLs for which it holds; absent: any address. */
  readonly scheme?: string;
  readonly what: string;
  readonly todo: string;
}

const settings = 'the setting that names it (REDIS_URL, REDIS_CLUSTER or REDIS_SENTINEL)';

/** For errors that Redis replies with. */
const replyAdvices: readonly Advice[] = [
  {
    reason: /\b(?:NOAUTH|WRONGPASS)\b/,
    what: 'rejects this login',
    todo: 'Correct the user and password in REDIS_URL.',
  },
  {
    reason: /\bNOPERM\b/,
    what: 'does not give this user all permissions that Millrace needs',
    todo: 'Grant them: ACL SETUSER NAME +@all ~* &millrace:*',
  },
  {
    reason: /\bDB index is out of range\b/,
    what: 'does not have this database',
    todo: 'Correct the number at the end of REDIS_URL, or raise databases in the configuration file of Redis.',
  },
  {
    reason: /\bREADONLY\b/,
    what: 'is a replica',
    todo: 'Name its primary in REDIS_URL.',
  },
  {
    reason: /\bMISCONF\b/,
    what: 'cannot write its files',
    todo: 'Make room on its disk, then run this command again.',
  },
];

/** For a connection that cannot be opened. */
const connectionAdvices: readonly Advice[] = [
  {
    reason: /\b(?:ENOTFOUND|EAI_AGAIN)\b/,
    what: 'cannot be reached',
    todo: `Correct the host name in ${settings}.`,
  },
  {
    reason: /does not match certificate/,
    what: 'has a certificate for another host name',
    todo: 'Write a host name of the certificate in REDIS_URL.',
  },
  {
    reason: /certificate/,
    what: 'has a certificate that is not trusted',
    todo: 'Set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of its authority.',
  },
  {
    reason: /SSL|no response within/,
    scheme: 'rediss:',
    what: 'does not respond over TLS',
    todo: 'Start it, or write redis:// in REDIS_URL if it does not use TLS.',
  },
  {
    reason: /ECONNRESET|EPIPE|connection was lost/,
    scheme: 'redis:',
    what: 'closes the connection',
    todo: 'If it requires TLS, write rediss:// in REDIS_URL.',
  },
  {
    reason: /\bRESP type\b|Protocol error/,
    what: 'does not speak the protocol of Redis',
    todo: `Correct ${settings}.`,
  },
];

/** The error for a store that cannot be opened, with a one-line message. */
export async function openFailure(address: RedisAddress, error: unknown): Promise<CommandStop> {
  const known = advised(address, error, [...replyAdvices, ...connectionAdvices]);
  if (known !== null) return known;
  const reason = (await refusalBy(hostsOf(address))) ?? error;
  return (
    advised(address, reason, connectionAdvices) ??
    stop(
      address,
      `does not respond (${shortReason(reason)}). Start it, or correct ${settings}; without one, npm start runs a private Redis.`,
    )
  );
}

/** The seeds or sentinels. For these, the client library does not say why they could not be reached. */
function hostsOf(address: RedisAddress): readonly HostAndPort[] {
  return address.kind === 'cluster' ? address.seeds : (address.sentinels?.hosts ?? []);
}

const refusalWaitMs = 1_000;

/** Why the first host that cannot be connected to cannot; null if there is none, or none says so in time. */
async function refusalBy(hosts: readonly HostAndPort[]): Promise<Error | null> {
  for (const host of hosts) {
    const socket = connect({ ...host });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(refusalWaitMs) });
    } catch (error) {
      if (error instanceof Error && error.name !== 'AbortError') return error;
    } finally {
      socket.destroy();
    }
  }
  return null;
}

/**
 * The error for a store that fails during a command, with a one-line message; returns errors that are not about the store
 * unchanged.
 * @param confirmReplicas the setting
 */
export function failureDuring(address: RedisAddress, error: unknown, confirmReplicas: number): unknown {
  if (error instanceof StoreFullError) {
    return stop(
      address,
      'is full: give it more memory (maxmemory) or delete entities, then run this command again.',
    );
  }
  if (error instanceof NoReplicaError) {
    const without = confirmReplicas > 0 ? ', or set CONFIRM_REPLICAS=0' : '';
    return stop(
      address,
      `has too few replicas that are up to date (${error.message}): attach one${without}, then run this command again.`,
    );
  }
  const known = advised(address, error, replyAdvices);
  if (known !== null) return known;
  if (!(error instanceof StoreUnavailableError)) return error;
  return stop(address, `stopped answering (${shortReason(error)}). Run this command again.`);
}

function advised(address: RedisAddress, error: unknown, advices: readonly Advice[]): CommandStop | null {
  const hasUrl = address.kind === 'single' && address.sentinels === undefined;
  const protocol = hasUrl ? new URL(address.url).protocol : null;
  const reason = shortReason(error);
  const found = advices.find((one) => one.reason.test(reason) && (one.scheme ?? protocol) === protocol);
  return found === undefined ? null : stop(address, `${found.what} (${reason}). ${found.todo}`);
}

function stop(address: RedisAddress, text: string): CommandStop {
  return new CommandStop(`Redis at ${shownAddress(address)} ${text}`);
}

/** The message of an error, on one line and without its subject. */
function shortReason(error: unknown): string {
  return reasonOf(error)
    .replace(/^Redis: /, '')
    .replace(/ Retrying from scratch after \d+ms\./, '')
    .replace(/\s+/g, ' ')
    .replace(/\.$/, '');
}

/** The address without user and password, for messages. */
function shownAddress(address: RedisAddress): string {
  if (address.kind === 'cluster') return address.seeds.map(({ host, port }) => `${host}:${port}`).join(',');
  if (address.sentinels !== undefined) return `${address.sentinels.name} (Sentinel)`;
  const url = new URL(address.url);
  url.username = '';
  url.password = '';
  return url.href;
}

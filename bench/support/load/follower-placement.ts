/**
 * Where the followers of a benchmark are. On the loopback address the kernel does the receiving half of each message within the
 * call that sends it, on the sender's processor. In a network namespace of their own, behind a pair of virtual Ethernet
 * devices, other processors receive, as another machine would. What followers acknowledge stays with the server's processor.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { BenchContext } from '../bench.ts';
import { host } from '../ports.ts';

export interface FollowerPlace {
  /** Address at which followers reach the servers. */
  readonly serverHost: string;
  /** Words before the command of a server, and of the followers. */
  readonly serverPrefix: readonly string[];
  readonly followerPrefix: readonly string[];
}

const namespace = 'millrace-bench';
const serverDevice = 'mrbench0';
const followerDevice = 'mrbench1';
/** Of the block that is set apart for benchmarks (RFC 2544). */
const serverHost = '198.18.72.1';
const followerHost = '198.18.72.2';

export const loopback: FollowerPlace = { serverHost: host, serverPrefix: [], followerPrefix: [] };

/** Followers in a namespace of their own; on the loopback address, after a line that says why, where that cannot be. */
export function placeFollowers(context: BenchContext): FollowerPlace {
  const cores = availableParallelism();
  if (cores < 2 || process.getuid?.() !== 0) {
    context.say(
      'followers are on the loopback address: a namespace of their own needs root and two processors',
    );
    return loopback;
  }
  run(`ip netns del ${namespace}`);
  context.onEnd(() => void run(`ip netns del ${namespace}`));
  const failed = commands(2 ** Math.min(cores, 32) - 2).find((command) => !run(command));
  if (failed !== undefined) {
    context.say(
      `followers are on the loopback address: "${failed}" failed; the packages iproute2 and util-linux have it`,
    );
    return loopback;
  }
  return {
    serverHost,
    serverPrefix: ['taskset', '-c', '0'],
    followerPrefix: ['ip', 'netns', 'exec', namespace, 'taskset', '-c', `1-${cores - 1}`],
  };
}

/** @param otherCores bits of all processors but the first, which is the server's */
function commands(otherCores: number): string[] {
  const inside = `ip netns exec ${namespace}`;
  return [
    'taskset -c 0 true',
    `ip netns add ${namespace}`,
    `ip link add ${serverDevice} type veth peer name ${followerDevice} netns ${namespace}`,
    `ip address add ${serverHost}/30 dev ${serverDevice}`,
    `ip link set ${serverDevice} up`,
    `${inside} ip address add ${followerHost}/30 dev ${followerDevice}`,
    `${inside} ip link set ${followerDevice} up`,
    `${inside} ${receivingOn(followerDevice, otherCores)}`,
    receivingOn(serverDevice, 1),
  ];
}

/** Receive packet steering: which processors receive what comes out of a device. @param cores bits */
function receivingOn(device: string, cores: number): string {
  return `sh -c 'echo ${cores.toString(16)} > /sys/class/net/${device}/queues/rx-0/rps_cpus'`;
}

function run(command: string): boolean {
  return spawnSync('sh', ['-c', command], { stdio: 'ignore' }).status === 0;
}

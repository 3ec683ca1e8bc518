/**
 * Runs the followers of a benchmark in a network namespace of their own. On the loopback interface, the kernel handles the
 * receiving side of each message within the sending call, on the sender's CPU. Across a veth pair, other CPUs receive, as on
 * another machine. TCP acknowledgements from followers are still handled on the server's CPU.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { BenchContext } from '../bench.ts';
import { host } from '../ports.ts';

export interface FollowerPlacement {
  /** Address at which followers reach the servers. */
  readonly serverHost: string;
  /** Command prefixes for servers and followers. */
  readonly serverPrefix: readonly string[];
  readonly followerPrefix: readonly string[];
}

const namespace = 'millrace-bench';
const serverDevice = 'mrbench0';
const followerDevice = 'mrbench1';
/** From the address block reserved for benchmarks (RFC 2544). */
const serverHost = '198.18.72.1';
const followerHost = '198.18.72.2';

export const loopback: FollowerPlacement = { serverHost: host, serverPrefix: [], followerPrefix: [] };

/** Places followers in a namespace of their own, or on the loopback interface after printing why. */
export function placeFollowers(context: BenchContext): FollowerPlacement {
  const cores = availableParallelism();
  if (cores < 2 || process.getuid?.() !== 0) {
    context.say(
      'followers are on the loopback address: a namespace of their own needs root and two processors',
    );
    return loopback;
  }
  run(`ip netns del ${namespace}`);
  context.onEnd(() => void run(`ip netns del ${namespace}`));
  const failed = setupCommands(2 ** Math.min(cores, 32) - 2).find((command) => !run(command));
  if (failed !== undefined) {
    context.say(
      `followers are on the loopback address: "${failed}" failed; it needs the packages iproute2 and util-linux`,
    );
    return loopback;
  }
  return {
    serverHost,
    serverPrefix: ['taskset', '-c', '0'],
    followerPrefix: ['ip', 'netns', 'exec', namespace, 'taskset', '-c', `1-${cores - 1}`],
  };
}

/** @param otherCores bit mask of all CPUs except the first, which is the server's */
function setupCommands(otherCores: number): string[] {
  const inside = `ip netns exec ${namespace}`;
  return [
    'taskset -c 0 true',
    `ip netns add ${namespace}`,
    `ip link add ${serverDevice} type veth peer name ${followerDevice} netns ${namespace}`,
    `ip address add ${serverHost}/30 dev ${serverDevice}`,
    `ip link set ${serverDevice} up`,
    `${inside} ip address add ${followerHost}/30 dev ${followerDevice}`,
    `${inside} ip link set ${followerDevice} up`,
    `${inside} ${steerReceiving(followerDevice, otherCores)}`,
    steerReceiving(serverDevice, 1),
  ];
}

/** Receive packet steering: sets the CPUs that process packets from a device. @param cores bit mask */
function steerReceiving(device: string, cores: number): string {
  return `sh -c 'echo ${cores.toString(16)} > /sys/class/net/${device}/queues/rx-0/rps_cpus'`;
}

function run(command: string): boolean {
  return spawnSync('sh', ['-c', command], { stdio: 'ignore' }).status === 0;
}

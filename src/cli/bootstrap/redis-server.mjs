import { spawnSync } from 'node:child_process';
import { BootstrapStop } from './stop.mjs';
import { hasSystemPackages, installPackage } from './system-packages.mjs';

const majorMin = 7;
const packageNames = { 'apt-get': 'redis-server', others: 'redis' };

/**
 * Makes sure that a `redis-server` of version 7 or newer is on the PATH. Otherwise it stops with a line that says what
 * to do.
 * @param policyFile file that Debian runs to ask whether a service may start
 */
export async function ensureRedisServer(policyFile = undefined) {
  const found = redisServerMajor();
  if (found !== null && found >= majorMin) return;
  const missing =
    found === null
      ? 'redis-server is not installed'
      : `redis-server ${found} is too old (${majorMin} is needed)`;
  if (!hasSystemPackages()) {
    throw new BootstrapStop(
      `${missing}. Install Redis ${majorMin} or newer and put redis-server on the PATH, ` +
        'or set REDIS_URL to a running Redis.',
    );
  }
  await installPackage({ what: 'Redis', missing, packageNames, policyFile });
  const installed = redisServerMajor();
  if (installed !== null && installed >= majorMin) return;
  throw new BootstrapStop(
    `The packages of this system have no redis-server ${majorMin} or newer. Install one from ` +
      'https://redis.io/docs/latest/operate/oss_and_stack/install/, or set REDIS_URL to a running Redis.',
  );
}

/** Major version of the `redis-server` on the PATH; null when there is none. */
function redisServerMajor() {
  const { stdout, status } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return null;
  const version = /v=(\d+)/.exec(stdout);
  return version === null ? null : Number(version[1]);
}

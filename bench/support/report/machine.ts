/** Describes the machine on which the figures were taken. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';

/** One line with cores, memory, system, and the versions of Node and Redis. */
export function machineLine(): string {
  const [cpu] = os.cpus();
  const memoryGb = Math.round(os.totalmem() / 1024 ** 3);
  return [
    `${os.cpus().length} cores (${cpu?.model.trim() ?? os.arch()})`,
    `${memoryGb} GB`,
    systemName(),
    `Node ${process.versions.node}`,
    `Redis ${redisVersion()}`,
  ].join(', ');
}

function systemName(): string {
  try {
    const name = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'));
    if (name?.[1] !== undefined) return name[1];
  } catch {
    // Other systems do not have this file.
  }
  return `${os.type()} ${os.release()}`;
}

function redisVersion(): string {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  return /v=([\d.]+)/.exec(stdout ?? '')?.[1] ?? 'unknown';
}

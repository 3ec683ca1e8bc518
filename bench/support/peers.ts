/** Installs npm packages that only benchmarks need, in a folder that git ignores. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandStop } from '../../src/cli/terminal/command-stop.ts';

const peersDir = fileURLToPath(new URL('../.peers/', import.meta.url));
const dependencies = { '@orama/orama': '3.1.18', minisearch: '7.2.0', pg: '8.23.1' };
const manifest = `${JSON.stringify({ name: 'millrace-bench-peers', private: true, dependencies }, null, 2)}\n`;

/** Loads a package of the folder. The caller gives it a type. */
export const requirePeer = createRequire(path.join(peersDir, 'index.js'));

/** Makes sure that the packages are there in these versions. @throws CommandStop when npm cannot get them */
export function installPeers(): void {
  if (isInstalled()) return;
  console.error('Installing what we compare with into bench/.peers …');
  mkdirSync(peersDir, { recursive: true });
  writeFileSync(path.join(peersDir, 'package.json'), manifest);
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--save-exact'], {
    cwd: peersDir,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new CommandStop(`npm could not install the peers: ${stderr.trim()}`);
}

function isInstalled(): boolean {
  return Object.entries(dependencies).every(([name, version]) => {
    try {
      const file = path.join(peersDir, 'node_modules', name, 'package.json');
      return JSON.parse(readFileSync(file, 'utf8')).version === version;
    } catch {
      return false;
    }
  });
}

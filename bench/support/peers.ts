/** Installs npm packages that only benchmarks need, in a git-ignored folder. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandStop } from '../../src/cli/terminal/command-line.ts';

const peersDir = fileURLToPath(new URL('../.peers/', import.meta.url));
const dependencies = { '@orama/orama': '3.1.18', minisearch: '7.2.0', pg: '8.23.1' };
/** Without a prebuilt binary, npm compiles one. A whole run may take 8 minutes. */
const buildSecondsMax = 120;
const sqlite = { 'better-sqlite3': '12.6.2' };
const manifest = `${JSON.stringify({ name: 'millrace-bench-peers', private: true, dependencies }, null, 2)}\n`;

/** Loads a package from the folder. The caller declares its type. */
export const requirePeer = createRequire(path.join(peersDir, 'index.js'));

/** Installs the packages unless these versions are installed. @throws CommandStop when npm fails */
export function installPeers(): void {
  if (isInstalled()) return;
  console.error('Installing the packages to compare with in bench/.peers …');
  mkdirSync(peersDir, { recursive: true });
  writeFileSync(path.join(peersDir, 'package.json'), manifest);
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--save-exact'], {
    cwd: peersDir,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0)
    throw new CommandStop(`npm could not install the packages to compare with: ${stderr.trim()}`);
}

/**
 * Installs SQLite too. It is a native module, whose binary may be impossible to download or build.
 * @returns false when it is not available, after printing why
 */
export function installSqlite(say: (text: string) => void): boolean {
  installPeers();
  if (isInstalled(sqlite) && canLoad('better-sqlite3')) return true;
  const wanted = Object.entries(sqlite).map(([name, version]) => `${name}@${version}`);
  // `timeout` ends the compiler too.
  const install = ['npm', 'install', '--no-audit', '--no-fund', '--no-save', ...wanted];
  const timeoutArgs = ['-k', '1', String(buildSecondsMax), ...install];
  const { status } = spawnSync('timeout', timeoutArgs, { cwd: peersDir, stdio: 'ignore' });
  const isUsable = status === 0 && canLoad('better-sqlite3');
  if (!isUsable) say('SQLite is skipped: npm could not install better-sqlite3 in time.');
  return isUsable;
}

/** False for a native module without its binary. */
function canLoad(name: string): boolean {
  try {
    const Database: new (file: string) => { close(): void } = requirePeer(name);
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

function isInstalled(packages: Readonly<Record<string, string>> = dependencies): boolean {
  return Object.entries(packages).every(([name, version]) => {
    try {
      const file = path.join(peersDir, 'node_modules', name, 'package.json');
      return JSON.parse(readFileSync(file, 'utf8')).version === version;
    } catch {
      return false;
    }
  });
}

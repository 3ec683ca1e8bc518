/**
 * One platform for all test files of a process, one after the other. To start one takes 2.5 s of processor time, and its
 * processes are slow until they are warm, so a file starts its own (`System.start`) only if it needs other settings or
 * processes, or ends processes.
 *
 * The files that import this share few processes (`src/cli/test/shared-processes.ts`), where each is a suite, so that its
 * `before` runs when the file before it has ended. Then the configuration is replaced by its own. What the others saved
 * stays under their tenants, so each file names its tenants after itself. A file that runs alone has the platform for itself,
 * and so does one that awaits something before its tests are registered: they would not belong to its suite.
 */
import { after } from 'node:test';
import { receiverEnvironment } from '../receiver.ts';
import { type ConfigFiles, System } from './system.ts';

let running: Promise<System> | null = null;
const usedTenants = new Set<string>();

/**
 * Two fronts, two workers and a jobs process over 8 partitions, which run these files. It is stopped after the last file.
 * @throws Error when another file has used one of the tenants
 */
export async function sharedPlatform(files: ConfigFiles): Promise<System> {
  const tenants = new Set(Object.keys(files).map((file) => file.split('/')[1] ?? ''));
  for (const tenant of tenants) {
    if (usedTenants.has(tenant)) throw new Error(`another file has a tenant ${tenant}: choose another name`);
    usedTenants.add(tenant);
  }
  if (running === null) {
    running = System.start({ web: 2, workers: 2, jobs: 1, partitions: 8, files, env: receiverEnvironment });
    return await running;
  }
  const system = await running;
  await system.apply(files);
  return system;
}

// In the process that files share, this is imported before the first of them, so it belongs to no suite.
after(async () => {
  await (await running)?.stop();
});

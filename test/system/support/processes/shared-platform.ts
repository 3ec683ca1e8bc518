/**
 * One platform for all test files of a process. Starting one takes 2.5 s of processor time, and its processes are slow until
 * they are warm, so a file starts its own (`System.start`) only if it needs other settings or processes, or ends processes.
 *
 * The files that import this run in few processes (`src/cli/test/shared-processes.ts`), each as a suite, so that its `before`
 * runs after the previous file has ended, and replaces the configuration. What other files saved stays under their tenants, so
 * each file names its tenants after itself. A file that runs alone has the platform for itself. So does a file that awaits
 * something before its tests are registered, because they would not belong to its suite.
 */
import { after } from 'node:test';
import { receiverEnvironment } from '../receiver.ts';
import { type ConfigFiles, System } from './system.ts';

/** Settings of which files need one, and which the other files do not notice. */
export const sharedEnvironment = {
  ...receiverEnvironment,
  HEADER_PREFIX: 'X-Service,X-Enterspeed',
  PUBLIC_URL: 'https://content.example.com/',
};

let running: Promise<System> | null = null;
const usedTenants = new Set<string>();

/**
 * Two fronts, two workers and a jobs process over 8 partitions, which run these files. It is stopped after the last test file.
 * @throws Error if another file has used one of the tenants
 */
export async function sharedPlatform(files: ConfigFiles): Promise<System> {
  const tenants = new Set(Object.keys(files).map((file) => file.split('/')[1] ?? ''));
  for (const tenant of tenants) {
    if (usedTenants.has(tenant)) throw new Error(`another file has a tenant ${tenant}: choose another name`);
    usedTenants.add(tenant);
  }
  if (running === null) {
    running = System.start({ web: 2, workers: 2, jobs: 1, partitions: 8, files, env: sharedEnvironment });
    return await running;
  }
  const system = await running;
  await system.apply(files);
  return system;
}

// In a shared process, this is imported before the first test file, so that the hook belongs to no suite.
after(async () => {
  await (await running)?.stop();
});

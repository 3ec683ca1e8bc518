/** Programs that some tests of the system use besides Redis. */
import path from 'node:path';
import { BootstrapStop } from './stop.mjs';
import { hasSystemPackages, installPackage, isOnPath } from './system-packages.mjs';

/** Each with its package. */
const programs = [
  { program: 'nginx', packageNames: { others: 'nginx' } },
  { program: 'chromium', packageNames: { others: 'chromium' } },
];

/**
 * Installs what is missing. Where that is not possible it says so and goes on: only the tests that use the program fail
 * then, and all others run.
 * @param systemFolder where Debian keeps programs of services; it is not on everybody's PATH
 */
export async function ensureTestPrograms(systemFolder = '/usr/sbin') {
  process.env.PATH = [process.env.PATH, systemFolder].join(path.delimiter);
  for (const { program, packageNames } of programs) {
    if (isOnPath(program) || !hasSystemPackages()) continue;
    try {
      await installPackage({ what: program, missing: `${program} is not installed`, packageNames });
    } catch (error) {
      if (!(error instanceof BootstrapStop)) throw error;
      console.error(`${error.message}. The tests that use ${program} will fail.`);
    }
  }
}

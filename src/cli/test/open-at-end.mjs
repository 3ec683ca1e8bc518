/**
 * Preloaded in each process of test files. Shortly before the timeout, it reports if all tests have ended but something keeps
 * the process alive.
 */
import { after } from 'node:test';

const reportAtShare = 0.8;
const timeoutPattern = /^--test-timeout=(\d+)$/;

// Only set in processes that Node's test runner starts.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  let areTestsOver = false;
  after(() => {
    areTestsOver = true;
  });
  setTimeout(
    () => {
      if (!areTestsOver) return;
      const kept = process.getActiveResourcesInfo().join(', ');
      console.error(`All tests have ended, but their process does not exit. These keep it open: ${kept}`);
    },
    timeoutMs() * reportAtShare - performance.now(),
  ).unref();
}

function timeoutMs() {
  const given = process.execArgv.flatMap((word) => timeoutPattern.exec(word)?.[1] ?? []);
  return Number(given.at(-1));
}

/**
 * Preloaded in each process of test files. Shortly before it is ended for the time that it takes, it says whether its tests
 * are over, and then what keeps it open.
 */
import { after } from 'node:test';

const toldAfter = 0.8;
const timeoutPattern = /^--test-timeout=(\d+)$/;

// Only what node's test runner starts has it.
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
    timeoutMs() * toldAfter - performance.now(),
  ).unref();
}

function timeoutMs() {
  const given = process.execArgv.flatMap((word) => timeoutPattern.exec(word)?.[1] ?? []);
  return Number(given.at(-1));
}

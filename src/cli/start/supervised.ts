/** Set to `1` for the processes that `npm start` runs: their standard input stands open for as long as it lives. */
export const supervisedVariable = 'MILLRACE_SUPERVISED';

/** Set to `1` for the processes that `npm start` runs. Their standard input stays open for as long as `npm start` lives. */
export const supervisedVariable = 'MILLRACE_SUPERVISED';

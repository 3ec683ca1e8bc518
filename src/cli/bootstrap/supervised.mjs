/**
 * Set to `1` for processes that another one of ours runs. Their standard input stays open for as long as that one lives, so
 * that they can end with it.
 */
export const supervisedVariable = 'MILLRACE_SUPERVISED';

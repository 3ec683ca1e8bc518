/** Ends the bootstrap with one line for the person at the keyboard instead of a stack. */
export class BootstrapStop extends Error {}

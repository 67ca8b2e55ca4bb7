/**
 * What Node is started with for a process of many tests: more room for what is young is cleared less often, and threads that clear it beside
 * the program would take their time from the other processes.
 */
export const cheapMemory = ['--max-semi-space-size=32', '--v8-pool-size=0'] as const

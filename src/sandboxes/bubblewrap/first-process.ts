/** Bounds that the kernel holds for every process of a command. */
export interface ProcessBounds {
  /** Processes and threads of a command together. */
  readonly processes: number
  /** Memory that each process may write to, in bytes. */
  readonly memoryBytes: number
  /** Size of a file that a process writes, in bytes. */
  readonly fileBytes: number
  /** CPU time of each process, in seconds. */
  readonly cpuSeconds: number | undefined
}

/**
 * The first process of a sandbox, as an argument list: it sets the bounds, runs the program that the arguments behind it name, waits for
 * it, and ends with its exit code, at which the kernel ends all that is left. Its script is fixed text; the program and its arguments
 * reach it as positional parameters, which no shell reads as code.
 */
export function firstProcess(bounds: ProcessBounds): string[] {
  const { processes, memoryBytes, fileBytes, cpuSeconds } = bounds
  const script = [
    'ulimit -c 0',
    // Where the sandbox is, only processes inside it count: it is a user namespace of its own. The letter differs between shells.
    `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} || exit 125`,
    `ulimit -d ${Math.ceil(memoryBytes / 1024)} || exit 125`,
    `ulimit -f ${Math.ceil(fileBytes / 512)} || exit 125`,
    ...(cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds} || exit 125`]),
    '"$@"',
    'exit $?',
  ].join('\n')
  return ['/bin/sh', '-c', script, 'sh']
}

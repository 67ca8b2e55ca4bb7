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

/** What the first process needs beside the bounds. */
export interface FirstNeeds {
  /** The descriptor, of one digit, at which it says that the program starts. */
  readonly begun: number
  /** What serves the network inside; absent if there is none. */
  readonly bridge?: readonly string[] | undefined
}

/** Of Node, when it has nothing to do beside its loop. */
const bridgeThreads = 4

/**
 * The first process of a sandbox, as an argument list: it starts the bridge, if there is one, and waits for its word, sets the bounds,
 * says that it begins, runs the program that the arguments behind it name, waits for it, and ends with its exit code, at which the
 * kernel ends all that is left. Its script is fixed text; what it starts reaches it as positional parameters, which no shell reads as code.
 */
export function firstProcess(bounds: ProcessBounds, { begun, bridge = [] }: FirstNeeds): string[] {
  const { memoryBytes, fileBytes, cpuSeconds } = bounds
  const processes = bounds.processes + (bridge.length === 0 ? 0 : bridgeThreads)
  const script = [
    'ulimit -c 0',
    ...(bridge.length === 0 ? [] : startBridge(bridge.length, begun)),
    // Where the sandbox is, only processes inside it count: it is a user namespace of its own. The letter differs between shells.
    `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} || exit 125`,
    `ulimit -d ${Math.ceil(memoryBytes / 1024)} || exit 125`,
    `ulimit -f ${Math.ceil(fileBytes / 512)} || exit 125`,
    ...(cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds} || exit 125`]),
    // Closed before the program is there, which could say it as well.
    `echo >&${begun}; exec ${begun}>&-`,
    '"$@"',
    'exit $?',
  ].join('\n')
  return ['/bin/sh', '-c', script, 'sh', ...bridge]
}

/** What a program asks for is bounded, not what serves it: so the bridge starts before, and its threads are added to the bound. */
function startBridge(length: number, begun: number): string[] {
  const argv = Array.from({ length }, (_, index) => `"\${${index + 1}}"`).join(' ')
  return [
    // The output ends with the word, while what says it goes on.
    `[ "$(NODE_OPTIONS= ${argv} ${begun}>&- &)" = ready ] || exit 125`,
    `shift ${length}`,
  ]
}

/** Bounds that the kernel holds for every process of a command. */
export interface ProcessBounds {
  /** Size of a file that a process writes, in bytes; some shells count in units of twice the size, which doubles it. */
  readonly fileBytes: number
  /** CPU time of each process, in seconds. */
  readonly cpuSeconds: number | undefined
}

/**
 * The first process inside of a sandbox, as an argument list: it sets the bounds, says at descriptor 3 that it runs, and becomes the
 * program that the arguments behind it name. With `watched` it leaves a process that ends the whole group when the other end of that
 * descriptor closes, as at the death of Handrail. Its script is fixed text; the program and its arguments reach it as positional
 * parameters, which no shell reads as code.
 */
export function firstProcess({ fileBytes, cpuSeconds }: ProcessBounds, watched: boolean): string[] {
  const script = [
    'ulimit -c 0',
    `ulimit -f ${Math.ceil(fileBytes / 512)} || exit 125`,
    ...(cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds} || exit 125`]),
    'echo began >&3',
    ...(watched ? ['{ cat <&3; kill -KILL 0; } >/dev/null 2>&1 &'] : []),
    'exec 3>&-',
    'exec "$@"',
  ].join('\n')
  return ['/bin/sh', '-c', script, 'sh']
}

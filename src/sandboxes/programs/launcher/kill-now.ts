/** Kills a process, or a process group where the number is negative. One that is not there any more is as wanted. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile, or runs as another user now.
  }
}

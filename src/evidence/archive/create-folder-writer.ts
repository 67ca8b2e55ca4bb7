import { createRunFolder, folderName, type RunFacts, type RunFolder } from './run-folder.ts'

/** Writes the folders of runs, behind those who change them. */
export interface FolderWriter {
  /** Changes the folder of a run; what is changed is written soon. */
  change(facts: RunFacts, act: (run: RunFolder) => void): void
  /** Resolves when everything changed so far is written or reported. */
  flush(): Promise<void>
}

/** Lines are collected for so long before they are written: each write wakes threads, which costs a call at a time more than its own work. */
const batchMs = 250
const mostLogBytes = 64 * 1024 ** 2

/** `dir` holds `runs/`. */
export function createFolderWriter(
  dir: string,
  { logBytes = mostLogBytes, onError }: { logBytes?: number | undefined; onError: (error: unknown) => void },
): FolderWriter {
  const runs = new Map<string, RunFolder>()
  const changed = new Set<RunFolder>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const writeChanged = async (): Promise<void> => {
    const batch = [...changed]
    for (const run of batch) {
      // What came while others were written is written with the rest, and not once more.
      changed.delete(run)
      try {
        await run.write()
      } catch (error) {
        onError(error)
      }
      if (run.ended && !changed.has(run)) runs.delete(run.name)
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(writeChanged)
    return writing
  }
  return {
    change(facts, act) {
      const name = folderName(facts)
      let run = runs.get(name)
      if (run === undefined) runs.set(name, (run = createRunFolder(dir, facts, logBytes)))
      try {
        act(run)
      } catch (error) {
        onError(error)
      }
      changed.add(run)
      timer ??= setTimeout(() => void flush(), batchMs)
    },
    flush,
  }
}

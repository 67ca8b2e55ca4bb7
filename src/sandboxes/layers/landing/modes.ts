import { chmodSync, type Stats } from 'node:fs'
import { systemErrorName } from '../../files/file-failure.ts'
import type { PathHandle } from '../../files/path-handle.ts'
import type { LandingNote, NotedMode } from './landing-note.ts'
import type { HeldRoots } from './stage.ts'

const full = 0o700

/** Whether this process needs other permissions of a folder to change what is in it, and can give them. */
export function isClosed({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): boolean {
  return process.geteuid?.() !== 0 && process.geteuid?.() === uid && (mode & full) !== full
}

/** Lets a folder be moved: its entry for the folder above is part of it. */
export function openForMoving({ self, stat }: PathHandle): void {
  if (isClosed(stat)) chmodSync(self, (stat.mode & 0o7777) | full)
}

/** Opens the folders whose modes keep this process out. */
export function openModes({ modes }: LandingNote, roots: HeldRoots): void {
  for (const mode of modes) change(mode, roots, (folder) => openForMoving(folder))
}

/** Sets the mode that each folder is to have, the deepest first. */
export function setModes({ modes }: LandingNote, roots: HeldRoots): void {
  for (const mode of modes.toReversed()) {
    const folder = roots[mode.root]?.folders.at(mode.path)
    if (folder !== undefined) setMode(folder, mode.after)
  }
}

/** Sets the mode that each folder had before, unless another program gave it one meanwhile. */
export function restoreModes({ modes }: LandingNote, roots: HeldRoots): void {
  for (const mode of modes.toReversed())
    change(mode, roots, (folder) => {
      const now = folder.stat.mode & 0o777
      if ([mode.before, mode.before | full, mode.after, mode.after | full].includes(now))
        setMode(folder, mode.before)
    })
}

function change({ root, path }: NotedMode, roots: HeldRoots, work: (folder: PathHandle) => void): void {
  const folders = roots[root]?.folders
  if (folders === undefined) return
  try {
    work(folders.at(path))
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM'].includes(systemErrorName(error) ?? '')) throw error
  }
}

/** What the folder has beside permissions stays. */
function setMode({ self, stat }: PathHandle, mode: number): void {
  chmodSync(self, (stat.mode & 0o7000) | mode)
}

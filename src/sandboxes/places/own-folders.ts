import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ProgramOwn } from '../../contract/services/sandbox.ts'

/** The folders that a program may write to since they are its own, where they are. */
export function writableOf(own: ProgramOwn | undefined): readonly string[] {
  return own === undefined ? [] : [...(own.home === undefined ? [] : [own.home]), ...own.write]
}

/** Makes them, and hands them to the user that the program runs as, if that is another one. */
export function prepareOwn(own: ProgramOwn | undefined, user?: { uid: number; gid: number }): void {
  for (const folder of [...writableOf(own), ...(own?.over ?? []).map((each) => each.folder)]) {
    makePassable(dirname(folder))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const stat = lstatSync(folder)
    if (user !== undefined && stat.isDirectory() && stat.uid !== user.uid)
      chownSync(folder, user.uid, user.gid)
  }
}

/** Where root keeps what another user works with, out of its own home. */
const elsewhere = '/var/lib/handrail'
/** Beside the folders that lie elsewhere. */
const placeFile = '.elsewhere'

/**
 * Where a folder of programs lies: where it is asked for, as long as the user that they run as can pass the folders above it; else in a place
 * whose name is known only to users that can read it here.
 */
export function findOwnFolder(path: string, canPass: (folder: string) => boolean): string {
  let above = dirname(path)
  while (!existsSync(above)) above = dirname(above)
  return canPass(above) ? path : join(elsewhere, readPlace(dirname(path)), basename(path))
}

function readPlace(folder: string): string {
  const file = join(folder, placeFile)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(file, randomBytes(16).toString('hex'), { flag: 'wx', mode: 0o600 })
  }
  return readFileSync(file, 'utf8')
}

/** Others may go through, and see nothing. */
function makePassable(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o711 })
}

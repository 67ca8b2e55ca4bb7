import { lstatSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Layer, LayerRequest } from './layer.ts'

/** The roots that a layer lies over, and the user of the commands in it. */
export type Ground = Pick<LayerRequest, 'roots' | 'user'>

/**
 * Describes what a layer over these roots depends on, except the files in them: which folders stand at the paths, their owners and permissions, and
 * the mounts of the machine. If two descriptions are equal, a layer from the time of the first one is good at the time of the second one.
 */
export function describeGround({ roots, user }: Ground): string {
  const mounts = readFileSync('/proc/self/mountinfo', 'latin1')
  const { uid, gid } = user
  return JSON.stringify([uid, gid, tmpdir(), mounts, roots.map((root) => [root, ...describeFolder(root)])])
}

/** Describes the folders that a command in the layer finds at the roots. It changes if the layer does not lie over them any more. */
export function describeSurface({ seen }: Layer, { roots }: Ground): string {
  return JSON.stringify(roots.map((root) => describeFolder(seen(root))))
}

/** Describes a folder by its number, owner and permissions. Empty if there is nothing at the path. */
function describeFolder(path: string): string[] {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? [] : [stat.dev, stat.ino, stat.uid, stat.gid, stat.mode].map(String)
}

import { isAbsolute, relative } from 'node:path'
import type { FileEffect } from '../../contract/base/effects.ts'
import { quoteArgument } from './quote-argv.ts'

const signs = { created: '+', changed: '~', removed: '-' } as const

/** What became of a path, in one line. */
export function describeEffect(effect: FileEffect, project: string): string {
  const facts = factsOf(effect)
  const name = quoteArgument(nameIn(project, effect.path))
  return `${signs[effect.effect]} ${name}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`
}

function factsOf({ effect, kind, bytes, target, mode, modeBefore, sameContent }: FileEffect): string[] {
  const what = kind === 'file' ? (bytes === undefined ? [] : [countBytes(bytes)]) : [kindNames[kind]]
  if (target !== undefined) return [`${kindNames.link} to ${quoteArgument(target)}`]
  const modes = mode === undefined ? [] : [`mode ${toOctal(modeBefore ?? 0)} to ${toOctal(mode)}`]
  if (effect !== 'changed' || sameContent !== true) return [...what, ...modes]
  return [...what, ...modes, modes.length === 0 ? 'only its times' : 'content as before']
}

const kindNames = { directory: 'directory', link: 'link', other: 'pipe, socket or device' } as const

function toOctal(mode: number): string {
  return mode.toString(8).padStart(3, '0')
}

/** A number of bytes in words. */
export function countBytes(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`
}

/** A path relative to the project if it lies inside, else as it is; every character of it stays. */
export function nameIn(project: string, path: string): string {
  const name = relative(project, path)
  return name.startsWith('..') || isAbsolute(name) ? path : name
}

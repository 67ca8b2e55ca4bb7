import type { Issue } from '../../contract/base/json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { referencesOf, type Template } from './template.ts'

/** What a spec says of a part, and what its place among the others stands on. */
export interface SpecifiedPart {
  readonly part: string
  readonly input: Template
  readonly after: readonly string[]
}

/** The parts with all that each waits for, in an order in which each stands behind those; or the issues that keep them from having one. */
export function orderParts(parts: readonly SpecifiedPart[], output: Template): SpecifiedPart[] | Issue[] {
  const names = parts.map(({ part }) => part)
  const issues = [...parts.flatMap((part) => findUnknown(part, names)), ...findUnknownOutput(output, names)]
  if (issues.length > 0) return issues
  const waiting = parts.map((each) => ({ ...each, after: waitsFor(each) }))
  const ordered: SpecifiedPart[] = []
  while (ordered.length < parts.length) {
    const isDone = (name: string) => ordered.some(({ part }) => part === name)
    const next = waiting.find(({ part, after }) => !isDone(part) && after.every(isDone))
    if (next === undefined) return [describeCircle(names.filter((name) => !isDone(name)))]
    ordered.push(next)
  }
  return ordered
}

function waitsFor({ input, after }: SpecifiedPart): string[] {
  const sources = referencesOf(input).map(({ reference }) => reference.from)
  return [...new Set([...sources, ...after])].filter((source) => source !== 'input')
}

function findUnknown({ part, input, after }: SpecifiedPart, names: readonly string[]): Issue[] {
  const place = pointerTo('/parts', part)
  return [
    ...referencesOf(input, `${place}/input`).flatMap(({ reference, pointer }) =>
      reference.from === 'input' ? [] : nameUnknown(reference.from, names, pointer),
    ),
    ...after.flatMap((name, index) => nameUnknown(name, names, `${place}/after/${index}`)),
  ]
}

function findUnknownOutput(output: Template, names: readonly string[]): Issue[] {
  return referencesOf(output, '/output').flatMap(({ reference, pointer }) =>
    reference.from === 'input' ? [] : nameUnknown(reference.from, names, pointer),
  )
}

function nameUnknown(name: string, names: readonly string[], pointer: string): Issue[] {
  if (names.includes(name)) return []
  const near = nearestNames(String(name), names)
  const advice = near.length > 0 ? ` Did you mean "${near.join('", "')}"?` : ''
  return [{ pointer, code: 'unknown_part', message: `There is no part "${String(name)}".${advice}` }]
}

function describeCircle(names: readonly string[]): Issue {
  return {
    pointer: '/parts',
    code: 'circle',
    message: `The parts "${names.join('", "')}" wait for each other. Let one of them have its values from elsewhere.`,
  }
}
